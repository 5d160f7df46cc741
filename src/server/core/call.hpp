#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <boost/intrusive/list.hpp>

#include "base/tasks/task.hpp"
#include "mcp/notifications.hpp"
#include "mcp/reply.hpp"
#include "mcp/request.hpp"
#include "net/http/fields.hpp"
#include "server/core/caller.hpp"
#include "server/core/cancellation.hpp"

namespace proteus::server {

class Session;

// The state of a request that needs input, in either era. The handler runs again from its beginning in each round, and
// finds here what it learned in earlier ones.
struct Rounds {
  unsigned round = 0;                                         // 0: nothing has been asked yet
  std::map<std::string, std::string, std::less<>> answers{};  // the client's results by key, as JSON
  std::string state{};                                        // what the handler remembers between rounds
};

// The channel of a running call: sends messages to the client on the stream of the request. Belongs to the call's
// thread.
class CallChannel {
 public:
  virtual ~CallChannel() = default;
  // Queues a whole message before the answer.
  virtual void send(std::string message) = 0;
  // Like `send`, for a message that the answer follows at once, so that both can be written together.
  virtual void send_with_answer(std::string message) { send(std::move(message)); }
  // Closes the client's connection; the client may reconnect after `retry` for the rest. Legacy HTTP only; has no
  // effect on other transports.
  virtual void release(std::chrono::milliseconds retry) = 0;
  // Fires when the client no longer wants the answer, or when the server cancels the call. The first call of this
  // function starts to watch the client.
  virtual Cancellation& cancellation() = 0;
};

// Removes a call from the list of its thread's calls when the call is destroyed.
using RunningHook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// One request while a Service answers it, in either era and over any transport. Belongs to one thread.
class Call : public RunningHook {
 public:
  // `headers` is null unless the request must be compared with its headers (modern HTTP). Everything given must outlive
  // the call.
  Call(const mcp::Request& request, const Caller& caller, CallChannel& channel,
       const mcp::HeaderLookup* headers = nullptr)
      : sent_(request), request_(&request), caller_(caller), channel_(channel), headers_(headers) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Returns the request to answer.
  const mcp::Request& request() const { return *request_; }
  // Returns the request that the client sent, which is nearly always the one to answer; see `stand_for`.
  const mcp::Request& sent() const { return sent_; }
  const Caller& caller() const { return caller_; }
  const mcp::HeaderLookup* headers() const { return headers_; }

  enum class Effect : std::uint8_t { any, reads };
  // Makes the call answer `named` instead of the request that the client sent: the call that `call_tool` names (ADR
  // 32), with the same id and `_meta`. Headers belong to the sent request and are not compared with `named`.
  void stand_for(std::shared_ptr<const mcp::Request> named, Effect allowed) {
    named_ = std::move(named);
    request_ = named_.get();
    headers_ = nullptr;
    fields_ = nullptr;
    allowed_ = allowed;
  }
  bool stands_for_another() const { return named_ != nullptr; }
  // Whether the call may run only what changes nothing.
  bool only_reads() const { return allowed_ == Effect::reads; }
  // All header fields of the request; null unless set, which only modern HTTP does.
  void set_fields(const net::Fields& fields) { fields_ = &fields; }
  const net::Fields* fields() const { return fields_; }
  // The Authorization field of the request; empty if there is none or the transport does not set it. The text must
  // outlive the call.
  void set_authorization(std::string_view authorization) { authorization_ = authorization; }
  std::string_view authorization() const { return authorization_; }
  const Rounds& rounds() const { return rounds_; }
  Rounds& rounds() { return rounds_; }

  // Adds the call to a legacy session, whose client may take up to `asking` to answer questions.
  void join(Session& session, std::chrono::milliseconds asking) {
    session_ = &session;
    asking_ = asking;
  }
  Session* session() const { return session_; }

  // Holds the call's place in its caller's limit of concurrent calls until there is an answer, through all rounds.
  void hold_place(std::shared_ptr<void> place) { place_ = std::move(place); }
  bool holds_place() const { return place_ != nullptr; }

  // Asks the legacy client while the call runs, and returns the client's result, a JSON object. Fails if the call has
  // no session, or if the client lacks the capability, answers with an error or takes too long.
  Task<Result<std::string>> ask(mcp::InputRequest question);

  // Returns what the client can be asked for; parsed on first use.
  const mcp::ClientCapabilities& client();

  // Sent only if the client requested progress, or log messages of this level.
  void progress(const mcp::Progress& progress);
  void log(mcp::LogLevel level, std::string_view logger, std::string_view data_json);
  void release(std::chrono::milliseconds retry) { channel_.release(retry); }
  // Sends a whole message unchanged.
  void send(std::string message) { channel_.send(std::move(message)); }
  void send_with_answer(std::string message) { channel_.send_with_answer(std::move(message)); }

  // Returns an id for log lines about this request, unique in this process. Made on first use.
  const std::string& log_id();

  // Handlers that never wait should not call this: watching the client has a cost.
  Cancellation& cancellation() { return channel_.cancellation(); }

 private:
  const mcp::Request& sent_;
  const mcp::Request* request_;
  const Caller& caller_;
  CallChannel& channel_;
  const mcp::HeaderLookup* headers_;
  Session* session_ = nullptr;
  std::chrono::milliseconds asking_{0};
  Rounds rounds_;
  std::optional<mcp::ClientCapabilities> client_;
  std::string log_id_;
  const net::Fields* fields_ = nullptr;
  std::string_view authorization_;
  std::shared_ptr<void> place_;
  std::shared_ptr<const mcp::Request> named_;
  Effect allowed_ = Effect::any;
};

// The running calls of one thread. A call is in at most one such list.
using RunningCalls = boost::intrusive::list<Call, boost::intrusive::constant_time_size<false>>;

}  // namespace proteus::server
