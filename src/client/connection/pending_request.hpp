#pragma once

#include <memory>
#include <optional>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "client/connection/connection.hpp"
#include "client/connection/in_flight.hpp"
#include "client/connection/link.hpp"
#include "client/message/options.hpp"
#include "client/message/transport.hpp"

namespace proteus::client {

// A request to a server of either era that was sent without waiting (ADR 21). Most are simply answered. To get the
// answer, poll the request in the caller's own coroutine:
//
//   auto polled = pending->poll();
//   for (; polled && polled->waits; polled = pending->poll()) (void)co_await pending->wait();
//
// If the server asks a question, refuses the request or breaks off, polling cannot complete it: `finish` turns it into
// an ordinary request, which may run in a separate coroutine. Belongs to its connection's thread. `Connection::close`
// waits until it is destroyed. Destroying it before it has ended cancels the request at the server.
class PendingRequest {
 public:
  // Only Connection::post can make one.
  class Key {
    friend class Connection;
    Key() = default;
  };
  PendingRequest(Key key, Connection& connection, Negotiated negotiated, std::shared_ptr<PendingReply> reply,
                 RequestId id, mcp::Method method, RequestOptions options);
  ~PendingRequest();
  PendingRequest(const PendingRequest&) = delete;
  PendingRequest& operator=(const PendingRequest&) = delete;

  // The handlers and callbacks for everything that arrives from now on.
  RequestOptions& options() { return options_; }
  // Returns true if the whole response has arrived, so that a notification can be forwarded together with the answer.
  bool is_all_here() const { return reply_->is_all_here(); }

  // What is known without waiting.
  struct Poll {
    std::optional<Answer> answer = {};
    bool waits = false;  // without an answer: true if it may arrive later, false if only `finish` can get it
  };
  Result<Poll> poll();
  // Waits until polling may make progress.
  Task<net::Waited> wait();
  // Returns the final result. `params` are those that the request was sent with: it is sent once more if it did not run
  // and a retry may succeed.
  static Task<Result<Answer>> finish(std::shared_ptr<PendingRequest> self, Params params);

  // Ends `wait`; the next poll cancels the request at the server and fails as cancelled.
  void cancel();

 private:
  void on_deadline();
  // Cancels the request at the server, unless the request has ended.
  void leave();
  Error end(Error error);
  // Passes a refusal of the credentials to the authorizer. Returns whether there are new credentials.
  Task<Result<bool>> heed(const Reply& refusal);
  bool is_to_be_sent_again(const Connection::Outcome& outcome);

  Connection& connection_;
  const Connection::Visit visit_;
  const Negotiated negotiated_;
  const mcp::Method method_;
  RequestOptions options_;
  Deadline deadline_;
  std::optional<InFlightTable::Entry> entry_;
  std::shared_ptr<PendingReply> reply_;
  std::optional<Result<Reply>> arrived_;  // the reply, if it arrived together with a question
  bool waiting_ = false;
  bool more_ = false;                                       // only `finish` can complete the request
  bool again_ = false;                                      // the request did not run and is sent once more
  Connection::Before before_ = Connection::Before::failed;  // passed to the retry
  bool cancelled_ = false;
  bool ended_ = false;  // nothing is left to cancel at the server
};

}  // namespace proteus::client
