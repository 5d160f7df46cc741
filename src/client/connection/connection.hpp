#pragma once

#include <memory>
#include <string>

#include <proteus/error.hpp>

#include "base/task_group.hpp"
#include "client/connection/in_flight.hpp"
#include "client/connection/link.hpp"
#include "client/connection/listener.hpp"
#include "client/connection/questions.hpp"
#include "client/message/compose.hpp"
#include "client/message/header_parameters.hpp"
#include "client/message/options.hpp"

namespace proteus::client {

// Makes the maker of a connection's transports; both are given what belongs to the connection.
using MakerFactory = std::function<std::unique_ptr<TransportMaker>(const Options& options, Inbox& inbox)>;

class PendingRequest;

// A connection to one MCP server of either era, over any transport. It connects when first needed, finds the
// server's era and transport, keeps what it found, and connects again when it must.
//
// Belongs to one thread, that of its executor; every member is called there. Requests may be made side by
// side. `close` must have ended before it is destroyed.
//
// Cancelling a coroutine that awaits a request cancels the request at the server, too: by closing its stream,
// or by `notifications/cancelled`. The coroutine then ends by `operation_aborted`, as with Asio's own
// operations.
class Connection final : private Inbox {
 public:
  // See transports.hpp for makers.
  Connection(const Executor& executor, MakerFactory make, Options options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Connects, if that was not done yet, and says what the server is.
  // With these credentials in place of the connection's, where that is not whose it is.
  Task<Result<std::shared_ptr<const ServerFacts>>> open(std::shared_ptr<Authorizer> authorizer = nullptr);
  // What it said last; empty before the first `open`.
  const std::shared_ptr<const ServerFacts>& facts() const { return facts_; }
  // What further connections to the same server need not find out.
  KnownServer known() const { return {facts_, link_.uses_old_sse()}; }

  // See Link.
  void reconsider() { link_.reconsider(); }

  // Sends a request and gives the answer, a result. An error of the server is an error of kind `remote` with
  // its code, message and data. A modern server's request for input is answered by the handlers, unless the
  // options say otherwise. Nothing is sent twice that may have run.
  Task<Result<Answer>> request(mcp::Method method, Params params, RequestOptions options = {});

  // Sends a request where that needs no waiting: see PendingRequest. Null where it does, and where a modern server's
  // need for input is not to be handed back; nothing was sent then, and the options are as they were.
  std::shared_ptr<PendingRequest> post(mcp::Method method, const Params& params, RequestOptions& options, Stay stay);

  // All pages of a list; `method` is one of the four list methods. What the server does not offer, or offers and does
  // not implement, is an empty list. Over HTTP, tools of a modern server whose header annotations are invalid are left
  // out.
  Task<Result<Listing>> list(mcp::Method method, RequestOptions options = {});

  // Announcements of changes, from now on and until `close`; see Listener.
  Task<Result<>> listen(mcp::SubscriptionFilter wanted);
  // Ends that; see Listener.
  void hush() { listener_.hush(); }
  bool is_listening() const { return listener_.is_listening(); }
  // Why the server does not tell of a resource that was listened for; null where it does.
  const Error* refused(const std::string& uri) const { return listener_.refused(uri); }

  // The session that a legacy server keeps for it over HTTP; nothing where there is none.
  std::optional<HttpSession> session() const;

  // Another process goes on with that session: it is not ended here, and nothing is sent in it any more.
  void leave_session() { link_.leave_session(); }

  // Sends a notification of its caller, where there is a session of a legacy server to send it in. Within a bound.
  void notify(std::string notification);
  // The same for `notifications/roots/list_changed`, where the server was told that it would come: what the server asks
  // because of it is answered before anything is sent that may act on roots.
  void notify_roots_changed(std::string notification);

  // The least level of log messages the server should send: for good with a legacy server, with each request
  // from now on to a modern one.
  Task<Result<>> set_log_level(mcp::LogLevel level);
  std::optional<mcp::LogLevel> log_level() const { return log_level_; }

  // Whether it holds something at the server: a session, or a running program.
  bool is_open() const { return link_.transport() != nullptr; }
  // Whether nothing is under way on it.
  bool is_idle() const { return visits_ == 0 && requests_.size() == 0; }
  // Ends what it holds, and the listening; the next request opens it again. False, and without effect, where something
  // is under way.
  Task<bool> rest();

  // Ends the session, the listening and every request under way, which fail as cancelled; waits for their
  // ends. Nothing can be asked afterwards.
  Task<> close();

  const Executor& executor() const { return executor_; }
  // Of a request.
  std::chrono::milliseconds timeout() const { return options_.timeout; }

 private:
  friend class Listener;
  friend class PendingRequest;
  // Somebody's coroutine that is in here, and must have left before the connection is destroyed.
  class Visit {
   public:
    explicit Visit(Connection& connection) : connection_(connection) { ++connection_.visits_; }
    ~Visit() {
      if (--connection_.visits_ == 0) connection_.left_.ring();
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    Connection& connection_;
  };

  // How one try of a request ended: an answer or an error, and perhaps a reason to try once more.
  struct Outcome {
    Result<Answer> answer;
    bool again = false;
    bool misfits = false;  // the headers that mirror parameters: what is known of the tool is not what it is now
    std::optional<Reply> refusal = {};  // for want of credentials, of a request that was sent at once
  };

  // What became of a request before.
  enum class Before : std::uint8_t { nothing, failed, misfitted };
  Task<Result<Answer>> request(mcp::Method method, Params params, RequestOptions options, Before before);
  // All of what they are given outlives these.
  Task<Outcome> attempt(const Negotiated& negotiated, mcp::Method method, const Params& params,
                        const RequestOptions& options, Before before);
  static Task<Outcome> refuse(mcp::Method method, mcp::Era era);
  // With as many rounds as a modern server needs.
  Task<Outcome> attempt_rounds(const Negotiated& negotiated, mcp::Method method, const Params& params,
                               const RequestOptions& options, Before before);
  Task<Outcome> exchange(const Negotiated& negotiated, mcp::Method method, const Params& params,
                         const RequestOptions& options, std::string_view more_members, const HeaderParameters* own);
  // Reads the list of tools anew, because a request does not fit what is known of its tool. False where that failed.
  Task<bool> learn_again(std::string_view tool, const RequestOptions& options, HeaderParameters& own);
  // Of a request that was sent, within its time.
  Task<Outcome> await_reply(const Negotiated& negotiated, const InFlight& request, mcp::Method method,
                            Task<Result<Reply>> replying);
  Outcome judge(const Negotiated& negotiated, mcp::Method method, Reply reply);
  std::chrono::milliseconds time_of(mcp::Method method, const RequestOptions& options) const;
  RequestFrame frame(const Negotiated& negotiated, mcp::Method method, const RequestOptions& options);
  // The caller's, the mirrored parameters of a tool, and as whom it is sent. `own` is known of tools for this request
  // alone.
  Result<> add_headers(Composed& composed, const Negotiated& negotiated, const Params& params,
                       const RequestOptions& options, const HeaderParameters* own) const;
  Task<Result<std::string>> gather_inputs(const Answer& required, const RequestOptions& options);
  // Whether parameters of tools are repeated in headers.
  bool mirrors_parameters() const;

  // What follows from a footing that was not there before.
  void note(const Negotiated& negotiated);
  bool keep_stream(const Negotiated& negotiated);
  void forget_session(const Negotiated& negotiated);
  Task<> restore_log_level(mcp::LogLevel level);
  // Whether it may act on the client's roots.
  static bool may_act(mcp::Method method);
  // Whether roots may be asked for, or are, that must be known before this request is sent.
  bool awaits_roots(const Negotiated& negotiated, mcp::Method method) const;
  // Ends when they are.
  Task<Result<>> await_roots(Negotiated negotiated, const RequestOptions& options);
  Task<Result<>> settle_roots(std::uint64_t generation);
  Task<> ping_server();
  // False where something runs in it.
  bool give_up_session(std::uint64_t generation);
  Task<> send_notification(std::shared_ptr<Transport> transport, std::string text);
  void cancel_at_server(const Negotiated& negotiated, RequestId id, std::string_view reason);
  Task<> send_cancelled(std::shared_ptr<Transport> transport, RequestId id, std::string reason);

  void on_notification(const Received& message, RequestId during) override;
  void on_request(Received message, RequestId during) override;
  void on_log(const json::Message& message, RequestId during);
  void on_unclaimed(const json::Message& message, mcp::Era era);

  Executor executor_;
  Options options_;
  std::unique_ptr<TransportMaker> maker_;
  std::string capabilities_;  // declared, where a call has no handlers of its own
  const std::string modern_meta_;
  RequestId last_id_ = kNoRequest;
  // A modern request belongs to no session that another process could believe to have: short numbers do, and are read
  // faster at both ends.
  RequestId last_modern_id_ = kNoRequest;
  TaskGroup tasks_;
  InFlightTable requests_;
  Link link_;
  Questions questions_;
  Listener listener_;
  HeaderParameters mirrors_;
  std::shared_ptr<const ServerFacts> facts_;
  std::optional<mcp::LogLevel> log_level_;
  std::size_t visits_ = 0;
  Bell left_;
  std::uint64_t noted_ = 0;  // the generation of the footing that was last looked at
  // Of which what the server asks by itself as it begins has arrived.
  std::uint64_t greeted_ = 0;
  std::uint64_t roots_told_ = 0;  // times that they were said to have changed
  bool greeting_ = false;
  Bell greeting_ended_;
  std::size_t notifying_ = 0;
};

}  // namespace proteus::client
