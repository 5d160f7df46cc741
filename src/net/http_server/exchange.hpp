#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/task.hpp"
#include "net/http/read_memory.hpp"
#include "net/http_server/request.hpp"
#include "net/http_server/response_head.hpp"

namespace proteus::net {

class Connection;

// One request and its answer: what a handler gets as soon as the head of the request is here, so that it can refuse the
// request without its body. It lives until the handler's task ends, on the connection's thread, to which every member
// function belongs; one operation at a time. Answer once, by `reply` or by a stream. `false` says that the client is
// gone and nothing more can be written. Parts of a body stay the caller's until the operation completes, and are not
// copied.
class Exchange {
 public:
  explicit Exchange(Connection& connection) : connection_(connection) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const Request& request() const;
  Executor executor() const;

  // Whether the request has all of its body, as most have from the beginning.
  bool has_body() const;
  // Reads the rest of the body, in memory of strangers or of known callers. False: it will not come. The client was
  // told why, if it is still there, and the exchange is over. A request that is answered without its body is the last
  // one of its connection.
  Task<bool> read_body(Standing standing);
  // For another thread that reads the body: it stays where it is for as long as this is held, whatever becomes of the
  // connection.
  std::shared_ptr<const void> hold_body() const;

  // Whole lines of a head that the answer has besides its own, also one that the server gives by itself.
  void add_fields(std::string_view lines) { fields_ += lines; }

  // The whole answer, with its length, in one write.
  Task<bool> reply(const ResponseHead& head, std::span<const std::string_view> body = {});
  Task<bool> reply(const ResponseHead& head, std::string_view body);
  // The same without a coroutine where the client takes the answer at once, as it nearly always does. False: go on with
  // `finish_reply`, for which the parts must still be there.
  bool try_reply(const ResponseHead& head, std::span<const std::string_view> body);
  Task<bool> finish_reply();

  // An answer whose length is not known: each `write` reaches the client at once. Ends with the handler's
  // task if not before; if that ends by an exception the client sees it cut off.
  Task<bool> begin_stream(const ResponseHead& head);
  Task<bool> write(std::span<const std::string_view> parts);
  Task<bool> write(std::string_view part);
  Task<bool> end_stream();

  // From now on the connection is watched: `gone` is called once, soon after the client closes its side, if
  // the handler's task still runs then. A later call replaces it. A client that has sent more requests ahead
  // than the buffer takes is not watched any more.
  void on_disconnect(std::move_only_function<void()> gone);

  // Called once when the server begins to drain, or soon if it has begun. A stream should end itself then;
  // whatever still runs after the grace time is cancelled.
  void on_drain(std::move_only_function<void()> finish);

  // Closes the connection at once, for a handler that goes on after its answer has ended.
  void close();

  bool answered() const { return state_ != State::open; }

 private:
  friend class Connection;

  enum class State : std::uint8_t { open, streaming, done };

  void expect_open() const;
  void begin(const ResponseHead& head);
  bool may_write_body(unsigned status) const;

  Connection& connection_;
  State state_ = State::open;
  bool bodiless_ = false;  // a stream of which only the head is sent
  bool chunked_ = false;
  bool left_ = false;  // the client closed its side while it was watched
  std::string fields_;
  std::string_view only_part_;
  std::move_only_function<void()> gone_;
  std::move_only_function<void()> drain_;
};

// Answers one request; gives an empty task where that is done already. What it throws is logged and becomes a 500, if
// nothing was answered yet. Called on the thread of the connection; several requests run at once, on each thread.
using HttpHandler = std::function<Task<>(Exchange&)>;

// A handler that gets whole requests only, from anyone.
HttpHandler with_body(HttpHandler handler);

}  // namespace proteus::net
