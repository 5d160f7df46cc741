#pragma once

#include <memory>
#include <set>
#include <string>

#include <proteus/error.hpp>

#include "base/tasks/task_group.hpp"
#include "client/connection/in_flight.hpp"
#include "client/connection/link.hpp"
#include "client/connection/listener.hpp"
#include "client/connection/questions.hpp"
#include "client/message/compose.hpp"
#include "client/message/header_parameters.hpp"
#include "client/message/options.hpp"

namespace proteus::client {

// Creates the maker of a connection's transports. The options and the inbox belong to the connection.
using MakerFactory = std::function<std::unique_ptr<TransportMaker>(const Options& options, Inbox& inbox)>;

class PendingRequest;

// A connection to one MCP server of either era, over any transport. It connects when first needed, finds out the
// server's era and transport, remembers them, and reconnects when necessary.
//
// Belongs to the thread of its executor; every member must be called there. Requests may run concurrently. `close` must
// have ended before it is destroyed.
//
// Cancelling a coroutine that awaits a request also cancels the request at the server, by closing its stream or by
// `notifications/cancelled`. The coroutine throws `operation_aborted`, like Asio's own operations.
class Connection final : private Inbox {
 public:
  // See transports.hpp for makers of transports.
  Connection(const Executor& executor, MakerFactory make, Options options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Connects, if necessary, and returns what the server says about itself. Uses `authorizer` for the handshake instead
  // of the connection's credentials, unless it is null.
  Task<Result<std::shared_ptr<const ServerFacts>>> open(std::shared_ptr<Authorizer> authorizer = nullptr);
  // Returns what the server last said about itself; null before it was connected for the first time.
  const std::shared_ptr<const ServerFacts>& facts() const { return facts_; }
  // Returns what further connections to the same server need not find out again.
  KnownServer known() const { return {facts_, link_.uses_old_sse()}; }

  // Takes over the result of a further `server/discover`: a modern server may offer something else than when the
  // connection was negotiated. Keeps the object of `facts` if the server says the same as before.
  void update_facts(const Answer& discovered);

  // See Link::reconsider.
  void reconsider() { link_.reconsider(); }
  // Call when another connection has found that the server is of `era`. If this one disagrees, it finds out again
  // before its next request.
  void reconsider_unless(mcp::Era era) {
    const Negotiated* const standing = link_.standing();
    if (standing != nullptr && standing->era() != era) (void)link_.era_doubtful(standing->generation);
  }

  // Sends a request and returns its result. An error of the server has its code, message and data, and kind `remote`,
  // or `unavailable` with HTTP status 429 or 5xx. The handlers answer a modern server's requests for input, unless the
  // options say otherwise. A request is sent again only if the reply shows that it did not run.
  Task<Result<Answer>> request(mcp::Method method, Params params, RequestOptions options = {});

  // Sends a request if that needs no waiting; see PendingRequest. Otherwise, or if the handlers would have to answer a
  // modern server's requests for input, sends nothing, returns null and leaves the options unchanged.
  std::shared_ptr<PendingRequest> post(mcp::Method method, const Params& params, RequestOptions& options, Stay stay);

  // Reads all pages of a list; `method` is one of the four list methods. A list that the server does not offer or does
  // not implement is empty. Over HTTP, a modern server's tools with invalid header annotations are left out.
  Task<Result<Listing>> list(mcp::Method method, RequestOptions options = {});

  // Listens for announcements of changes until `hush`, `rest` or `close`; see Listener::listen.
  Task<Result<>> listen(mcp::SubscriptionFilter wanted);
  // Stops listening; see Listener::hush.
  void hush() { listener_.hush(); }
  bool is_listening() const { return listener_.is_listening(); }
  // Returns why the server does not announce updates of a resource; null if it was not refused.
  const Error* refused(const std::string& uri) const { return listener_.refused(uri); }

  // Returns the session with a legacy server over HTTP; nothing if there is none.
  std::optional<HttpSession> session() const;

  // Gives the session up to another process, which continues it: sends nothing in it any more and does not end it.
  void leave_session() { link_.leave_session(); }

  // Sends the caller's notification in the background if there is a session with a legacy server. Best effort: drops
  // the notification if too many are on their way.
  void notify(std::string notification);
  // Like `notify`, for `notifications/roots/list_changed`. Does nothing unless the client has declared this
  // notification. The server's questions about the new roots are answered before a request is sent that may act on
  // roots.
  void notify_roots_changed(std::string notification);

  // Sets the least level of log messages that the server should send. A legacy server receives the level at once and in
  // each new session; a modern server receives it with each later request.
  Task<Result<>> set_log_level(mcp::LogLevel level);
  // Returns the level that holds now; nothing if none was set, or if the server could not be asked for it again.
  std::optional<mcp::LogLevel> log_level() const { return log_level_; }

  // Returns whether the connection has a transport, and so possibly a session or a running program.
  bool is_open() const { return link_.transport() != nullptr; }
  // Returns whether no request and no other operation of a caller is under way.
  bool is_idle() const { return visits_ == 0 && requests_.size() == 0; }
  // Stops listening and ends the session or program; the next request connects again. Does nothing and returns false
  // unless the connection is idle.
  Task<bool> rest();

  // Stops listening, ends the session and cancels every request under way; returns when all have ended. Later requests
  // fail as cancelled.
  Task<> close();

  // Returns the default time-out of a request.
  std::chrono::milliseconds timeout() const { return options_.timeout; }

 private:
  friend class Listener;
  friend class PendingRequest;
  // Counts a caller's coroutine that uses the connection. `close` waits until all have left.
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

  // The outcome of one attempt of a request: an answer or an error, and perhaps a reason to retry.
  struct Outcome {
    Result<Answer> answer;
    bool again = false;                 // retry in a new session or in the other era
    bool misfits = false;               // mirrored headers do not fit: the known definition of the tool is out of date
    std::optional<Reply> refusal = {};  // refusal of the credentials of a request that `post` has sent
  };

  // The outcome of the previous attempt of the same request.
  enum class Before : std::uint8_t { nothing, failed, misfitted };
  Task<Result<Answer>> request(mcp::Method method, Params params, RequestOptions options, Before before);
  // In `attempt`, `attempt_rounds` and `exchange`, the arguments must outlive the await.
  Task<Outcome> attempt(const Negotiated& negotiated, mcp::Method method, const Params& params,
                        const RequestOptions& options, Before before);
  static Task<Outcome> refuse(mcp::Method method, mcp::Era era);
  // Sends a request to a modern server again with the answers to its requests for input, until it gives a result.
  Task<Outcome> attempt_rounds(const Negotiated& negotiated, mcp::Method method, const Params& params,
                               const RequestOptions& options, Before before);
  Task<Outcome> exchange(const Negotiated& negotiated, mcp::Method method, const Params& params,
                         const RequestOptions& options, std::string_view more_members, const HeaderParameters* own);
  // Reads the list of tools again, because a request does not fit the known definition of its tool. Stores what is
  // listed to a caller with own credentials in `own`. Returns false if reading failed.
  Task<bool> learn_again(std::string_view tool, const RequestOptions& options, HeaderParameters& own);
  // Awaits the reply to a request until its deadline, and judges it. Cancels the request at the server if the deadline
  // passes or the coroutine is cancelled.
  Task<Outcome> await_reply(const Negotiated& negotiated, const InFlight& request, mcp::Method method,
                            Task<Result<Reply>> replying);
  Outcome judge(const Negotiated& negotiated, mcp::Method method, Reply reply);
  std::chrono::milliseconds time_of(mcp::Method method, const RequestOptions& options) const;
  RequestFrame frame(const Negotiated& negotiated, mcp::Method method, const RequestOptions& options);
  // Adds the caller's headers, the mirrored parameters of a tool, and the credentials. `own` has definitions of tools
  // for this request only; null for none. Fails if the arguments do not fit the tool's annotations.
  Result<> add_headers(Composed& composed, const Negotiated& negotiated, const Params& params,
                       const RequestOptions& options, const HeaderParameters* own) const;
  Task<Result<std::string>> gather_inputs(const Answer& required, const RequestOptions& options);
  // Returns whether tool parameters are mirrored into headers.
  bool mirrors_parameters() const;

  // Stores the facts of a new negotiation, calls `on_agreed` and restores the log level. Does nothing if `negotiated`
  // is not new.
  void note(const Negotiated& negotiated);
  bool keep_stream(const Negotiated& negotiated);
  void forget_session(const Negotiated& negotiated);
  Task<> restore_log_level(mcp::LogLevel level);
  // Returns whether a request of this method may act on the client's roots.
  static bool may_act(mcp::Method method);
  // Returns whether the request must wait, because the server may ask for roots or has asked and not been answered.
  bool awaits_roots(const Negotiated& negotiated, mcp::Method method) const;
  // Waits until the server's questions for roots are answered.
  Task<Result<>> await_roots(Negotiated negotiated, const RequestOptions& options);
  Task<Result<>> settle_roots(std::uint64_t generation);
  Task<> ping_server();
  // Ends the session, so that the next request begins another. Does nothing and returns false if requests run in it.
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
  std::string capabilities_;  // declared by requests without handlers of their own
  const std::string modern_meta_;
  RequestId last_id_ = kNoRequest;
  // Modern requests do not belong to a session that another process could continue, so their ids need no epoch. Short
  // numbers are faster to read at both ends.
  RequestId last_modern_id_ = kNoRequest;
  TaskGroup tasks_;
  InFlightTable requests_;
  Link link_;
  Questions questions_;
  Listener listener_;
  std::set<Deadline*> gathering_;  // of handlers that answer modern servers' requests for input
  HeaderParameters mirrors_;
  std::shared_ptr<const ServerFacts> facts_;
  std::optional<mcp::LogLevel> log_level_;         // that the server was told, or has refused
  std::optional<mcp::LogLevel> wanted_log_level_;  // that each new session is told
  std::size_t setting_log_level_ = 0;              // number of requests under way that tell the server the level
  bool restores_log_level_ = true;                 // whether new sessions are told the level
  std::size_t visits_ = 0;
  Bell left_;
  std::uint64_t noted_ = 0;  // the generation that `note` has seen last
  // The latest generation whose initial questions have all arrived, or are not awaited; 0 for none.
  std::uint64_t greeted_ = 0;
  std::uint64_t roots_told_ = 0;  // number of notifications that roots have changed
  bool greeting_ = false;         // a ping waits for the initial questions
  Bell greeting_ended_;
  std::size_t notifying_ = 0;
};

}  // namespace proteus::client
