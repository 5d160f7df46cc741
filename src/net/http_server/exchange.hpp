#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/tasks/task.hpp"
#include "net/http_server/read_memory.hpp"
#include "net/http_server/request.hpp"
#include "net/http_server/response_head.hpp"

namespace proteus::net {

class Connection;

// One request and its response. A handler receives it as soon as the head of the request has arrived, so that it can
// reject the request without the body. Lives until the handler's task ends. Belongs to the connection's thread; one
// operation at a time. Respond once, by `reply` or by a stream. A result of `false` means that the client is gone and
// nothing more can be written. Parts of a body are not copied: they must outlive the operation.
class Exchange {
 public:
  explicit Exchange(Connection& connection) : connection_(connection) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const Request& request() const;
  Executor executor() const;

  // Sets whose memory budget the request is charged to from now on; at first, each is charged to that of strangers.
  void set_standing(Standing standing);

  // Whether the whole body has arrived. Most requests have it from the start.
  bool has_body() const;
  // Reads the rest of the body, charged to the memory budget of `standing`. Returns false if the body will not come:
  // the exchange is over, and the client has received the reason if it is still there. A request that is answered
  // before its whole body has arrived is the last one on its connection.
  Task<bool> read_body(Standing standing);
  // Returns an owner of the body's memory, for another thread that reads the body. The body stays valid while the owner
  // lives, even if the connection is closed. If the connection goes on, its next request may overwrite the body.
  std::shared_ptr<const void> hold_body() const;

  // Adds whole header lines to the response, including one that the server generates.
  void add_fields(std::string_view lines) { fields_ += lines; }

  // Sends the whole response, with its length, in one write.
  Task<bool> reply(const ResponseHead& head, std::span<const std::string_view> body = {});
  Task<bool> reply(const ResponseHead& head, std::string_view body);
  // Does what `reply` does, without a coroutine, if the client accepts the whole response at once, as it nearly always
  // does. If false, await `finish_reply`; the parts must still be valid then.
  bool try_reply(const ResponseHead& head, std::span<const std::string_view> body);
  Task<bool> finish_reply();

  // Starts a response of unknown length: each `write` is sent at once. The stream ends with the handler's task, if not
  // before. If the task ends by an exception, the client sees that the stream was cut off (not with HTTP/1.0).
  Task<bool> begin_stream(const ResponseHead& head);
  Task<bool> write(std::span<const std::string_view> parts);
  Task<bool> write(std::string_view part);
  Task<bool> end_stream();

  // Watches the connection and calls `gone` once, soon after the client closes its side or this side aborts the
  // connection, if the handler's task is still running. A later call replaces the callback. The client is no longer
  // watched if it sends more requests ahead than the buffer can hold, or a body that the handler has not read.
  void on_disconnect(std::move_only_function<void()> gone);

  // Sets a callback that is called once when the server begins to drain, or soon if it is draining. A stream should end
  // then; whatever still runs after the grace time is cancelled.
  void on_drain(std::move_only_function<void()> finish);

  // Closes the connection at once. A response that has not ended is cut off.
  void close();
  // Ends the connection in good order after a whole response, for a handler that goes on: the client receives
  // everything and then the end, and no further request is read.
  void end_connection();

  bool answered() const { return state_ != State::open; }

 private:
  friend class Connection;

  enum class State : std::uint8_t { open, streaming, done };

  void expect_open() const;
  void begin(const ResponseHead& head);
  bool may_write_body(unsigned status) const;

  Connection& connection_;
  State state_ = State::open;
  bool bodiless_ = false;  // only the head of the stream is sent
  bool chunked_ = false;
  bool left_ = false;  // the client closed its side while it was watched
  std::string fields_;
  std::string_view only_part_;
  std::move_only_function<void()> gone_;
  std::move_only_function<void()> drain_;
};

// Answers one request. May return an empty task if the request has been answered. An exception is logged and becomes a
// 500 if nothing was sent yet. Called on the connection's thread; several requests run concurrently on each thread.
using HttpHandler = std::function<Task<>(Exchange&)>;

// Wraps a handler that needs whole requests. Bodies are charged to the budget of known callers, regardless of the
// sender.
HttpHandler with_body(HttpHandler handler);

}  // namespace proteus::net
