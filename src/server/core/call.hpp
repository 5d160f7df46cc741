#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <boost/intrusive/list.hpp>

#include "base/task.hpp"
#include "mcp/notifications.hpp"
#include "mcp/reply.hpp"
#include "mcp/request.hpp"
#include "net/http/fields.hpp"
#include "server/core/caller.hpp"
#include "server/core/cancellation.hpp"

namespace proteus::server {

class Session;

// What has been asked and answered so far in a request that needed input. The handler runs again from its
// beginning in each round, and finds here what it learned in the earlier ones, in either era.
struct Rounds {
  unsigned round = 0;                                         // 0: nothing has been asked yet
  std::map<std::string, std::string, std::less<>> answers{};  // by key: the client's result, as JSON
  std::string state{};                                        // what the handler left for itself
};

// Where the messages of a running call go: the stream of its request.
class CallChannel {
 public:
  virtual ~CallChannel() = default;
  // Queues a whole message in front of the answer.
  virtual void send(std::string message) = 0;
  // The same where the answer follows at once, so that they can go together.
  virtual void send_with_answer(std::string message) { send(std::move(message)); }
  // Lets go of the client's connection; it may come back for the rest (legacy HTTP only, elsewhere nothing
  // happens).
  virtual void release(std::chrono::milliseconds retry) = 0;
  // Fires when the client no longer wants the answer. Watching starts with the first call.
  virtual Cancellation& cancellation() = 0;
};

// Leaves a list of its thread's calls when it ends.
using RunningHook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

// One request in the hands of whoever answers it, whichever era and transport it came by. Used on one thread.
class Call : public RunningHook {
 public:
  // `headers` on a transport that has them, and a request that is to be held against them.
  Call(const mcp::Request& request, const Caller& caller, CallChannel& channel,
       const mcp::HeaderLookup* headers = nullptr)
      : sent_(request), request_(&request), caller_(caller), channel_(channel), headers_(headers) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // What is to be answered.
  const mcp::Request& request() const { return *request_; }
  // What the client has sent, which is nearly always the same.
  const mcp::Request& sent() const { return sent_; }
  const Caller& caller() const { return caller_; }
  const mcp::HeaderLookup* headers() const { return headers_; }

  // Answers a request from now on that the one sent has named, by the same client and in the same words to it. Headers
  // are about the one sent, and are not held against this one.
  enum class Effect : std::uint8_t { any, reads };
  void stand_for(std::shared_ptr<const mcp::Request> named, Effect allowed) {
    named_ = std::move(named);
    request_ = named_.get();
    headers_ = nullptr;
    fields_ = nullptr;
    allowed_ = allowed;
  }
  bool stands_for_another() const { return named_ != nullptr; }
  // Whether it may only do what changes nothing.
  bool only_reads() const { return allowed_ == Effect::reads; }
  // All header fields, on a transport that has them.
  void set_fields(const net::Fields& fields) { fields_ = &fields; }
  const net::Fields* fields() const { return fields_; }
  // The Authorization field that it came with, for as long as it is answered; empty for none. It outlives the call.
  void set_authorization(std::string_view authorization) { authorization_ = authorization; }
  std::string_view authorization() const { return authorization_; }
  const Rounds& rounds() const { return rounds_; }
  Rounds& rounds() { return rounds_; }

  // The session it belongs to, and how long its client may take to answer questions; none in the modern era.
  void join(Session& session, std::chrono::milliseconds asking) {
    session_ = &session;
    asking_ = asking;
  }
  Session* session() const { return session_; }

  // What it takes of its caller's share, kept until there is an answer, however often it is handled.
  void hold_place(std::shared_ptr<void> place) { place_ = std::move(place); }
  bool holds_place() const { return place_ != nullptr; }

  // Asks a legacy client something while the call runs, and gives its result, a JSON object. Only within a session.
  Task<Result<std::string>> ask(mcp::InputRequest question);

  // What the client can be asked for; read when first needed.
  const mcp::ClientCapabilities& client();

  // Reports are dropped where the client did not ask for them.
  void progress(const mcp::Progress& progress);
  void log(mcp::LogLevel level, std::string_view logger, std::string_view data_json);
  void release(std::chrono::milliseconds retry) { channel_.release(retry); }
  // A whole message, as it is.
  void send(std::string message) { channel_.send(std::move(message)); }
  void send_with_answer(std::string message) { channel_.send_with_answer(std::move(message)); }

  // What log lines about this request are known by: unique in this process. Made when first asked for.
  const std::string& log_id();

  // A handler that never waits does not touch this, and spares itself the cost of watching the client.
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

// The calls of one thread that are under way. Each is in at most one such list.
using RunningCalls = boost::intrusive::list<Call, boost::intrusive::constant_time_size<false>>;

}  // namespace proteus::server
