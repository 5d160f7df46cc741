#pragma once

#include <memory>
#include <optional>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "client/connection.hpp"
#include "client/in_flight.hpp"
#include "client/link.hpp"
#include "client/options.hpp"
#include "client/transport.hpp"

namespace proteus::client {

// A request to a legacy server that was sent at once. Most are simply answered; for that it is enough to wait in the
// caller's own coroutine (`answer`). As soon as there is more to it than that, because the server asks something, tells
// of progress or breaks off, it becomes a request like any other (`rest`), which may run aside. Belongs to its
// connection's thread, and keeps the connection from being destroyed.
class PostedRequest {
 public:
  // Made by Connection::post.
  class Key {
    friend class Connection;
    Key() = default;
  };
  PostedRequest(Key key, Connection& connection, Footing footing, std::unique_ptr<Sent> sent, RequestId id,
                mcp::Method method, RequestOptions options);
  PostedRequest(const PostedRequest&) = delete;
  PostedRequest& operator=(const PostedRequest&) = delete;

  // Who is asked and told from now on.
  RequestOptions& options() { return options_; }

  // Nothing where there is more to it: then `rest` follows, and not this again.
  Task<Result<std::optional<Answer>>> answer();
  // With the params it was sent with: where the server has forgotten its session, it is sent once more.
  static Task<Result<Answer>> rest(std::shared_ptr<PostedRequest> self, Params params);

  // Ends `answer` as cancelled, and tells the server.
  void cancel();

 private:
  void on_deadline();
  Error tell_cancelled();

  Connection& connection_;
  const Connection::Visit visit_;
  const Footing footing_;
  const RequestId id_;
  const mcp::Method method_;
  RequestOptions options_;
  Deadline deadline_;
  std::optional<InFlightTable::Entry> entry_;
  std::unique_ptr<Sent> sent_;
  std::optional<Result<Reply>> reply_;  // where it came with more than itself
  bool answering_ = false;
  bool more_ = false;   // there is more to it
  bool again_ = false;  // it did not run, and is to be sent once more
  bool cancelled_ = false;
};

}  // namespace proteus::client
