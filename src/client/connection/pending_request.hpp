#pragma once

#include <memory>
#include <optional>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "client/connection/connection.hpp"
#include "client/connection/in_flight.hpp"
#include "client/connection/link.hpp"
#include "client/message/options.hpp"
#include "client/message/transport.hpp"

namespace proteus::client {

// A request to a server of either era that was sent at once. Most are simply answered; for that it is enough to poll it
// in the caller's own coroutine:
//
//   auto polled = pending->poll();
//   for (; polled && polled->waits; polled = pending->poll()) (void)co_await pending->wait();
//
// As soon as there is more to it, because the server asks something, refuses it or breaks off, it becomes a request
// like any other (`finish`), which may run aside. Belongs to its connection's thread, and keeps the connection from
// being destroyed. One that is let go of before it has ended is cancelled at the server.
class PendingRequest {
 public:
  // Made by Connection::post.
  class Key {
    friend class Connection;
    Key() = default;
  };
  PendingRequest(Key key, Connection& connection, Negotiated negotiated, std::shared_ptr<PendingReply> reply,
                 RequestId id, mcp::Method method, RequestOptions options);
  ~PendingRequest();
  PendingRequest(const PendingRequest&) = delete;
  PendingRequest& operator=(const PendingRequest&) = delete;

  // Who is asked and told from now on.
  RequestOptions& options() { return options_; }
  // Whether the server has said all it had to say: what is told now is told together with the answer.
  bool is_all_here() const { return reply_->is_all_here(); }

  // What can be told without waiting.
  struct Poll {
    std::optional<Answer> answer = {};
    bool waits = false;  // without an answer: whether one may come by and by, or only `finish` can tell
  };
  Result<Poll> poll();
  // Until there may be more to poll.
  Task<net::Waited> wait();
  // With the params it was sent with: where it did not run, and can be mended, it is sent once more.
  static Task<Result<Answer>> finish(std::shared_ptr<PendingRequest> self, Params params);

  // Ends the wait; the next poll says that it is cancelled.
  void cancel();

 private:
  void on_deadline();
  // The server is told that nobody waits, unless it has ended.
  void leave();
  Error end(Error error);
  // The server refused its credentials: whether there are others now.
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
  std::optional<Result<Reply>> arrived_;  // where it came with more than itself
  bool waiting_ = false;
  bool more_ = false;                                       // there is more to it
  bool again_ = false;                                      // it did not run, and is to be sent once more
  Connection::Before before_ = Connection::Before::failed;  // then
  bool cancelled_ = false;
  bool ended_ = false;  // the server need not be told any more
};

}  // namespace proteus::client
