#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <boost/system/error_code.hpp>
#include <proteus/error.hpp>

#include "base/task.hpp"

namespace proteus::net {

using ErrorCode = boost::system::error_code;

// Outcome of moving bytes. A peer that closed in order is `boost::asio::error::eof`; an operation that would
// have to wait is `boost::asio::error::would_block`.
struct IoResult {
  ErrorCode error;
  std::size_t size = 0;
};

// A tuple because that is what Asio can hand out without a coroutine frame in between.
using Waited = std::tuple<ErrorCode>;

struct Peer {
  std::string address;  // numeric, without brackets; empty for a stream that has no network below it
  std::uint16_t port = 0;
};

// More is not written in one go: it is copied, or encrypted, while others wait. Who has more to write waits until the
// stream is writable, which lets them run.
inline constexpr std::size_t kMostAtOnce = std::size_t{256} << 10U;

// What a Stream is made of: bytes that move without waiting, and ways to wait until they can. Plain TCP is in
// tcp_stream.hpp, TLS over any other in tls.hpp, many over one in multiplexer.hpp, a pair in memory in
// memory_stream.hpp.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual IoResult try_read(std::span<char> into) = 0;
  // May take a part of the bytes; `size` says how many.
  virtual IoResult try_write(std::span<const std::string_view> parts) = 0;
  virtual bool has_news() const { return true; }
  virtual bool has_unread() const = 0;
  virtual Task<Waited> wait_readable() = 0;
  virtual Task<Waited> wait_writable() = 0;
  virtual void on_readable(std::move_only_function<void(ErrorCode)> notify) = 0;
  virtual void on_writable(std::move_only_function<void(ErrorCode)> notify) = 0;
  virtual void stop_waiting() = 0;
  virtual Task<Result<>> handshake() = 0;
  virtual void shutdown() = 0;
  virtual void close() = 0;
  virtual int native_handle() const = 0;
  virtual bool is_tls() const = 0;
  virtual const Peer& peer() const = 0;
  virtual Executor executor() const = 0;
};

// A connected, ordered stream of bytes. Move-only. Belongs to one thread, that of the executor it was made
// with; at most one read side and one write side operation may be under way. I/O errors are values; only the
// cancellation of the awaiting coroutine throws. Buffers and parts stay the caller's and must outlive the
// operation.
class Stream {
 public:
  Stream() = default;
  explicit Stream(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  explicit operator bool() const { return transport_ != nullptr; }

  // Never wait.
  IoResult try_read(std::span<char> into) { return transport_->try_read(into); }
  IoResult try_write(std::span<const std::string_view> parts) { return transport_->try_write(parts); }

  // False where nothing has been heard of the peer since everything it sent was read: there is something to wait for.
  // Asks no one: what came just now may not be known yet.
  bool has_news() const { return transport_->has_news(); }

  // Whether something has come that was not read yet, as far as is known here and now.
  bool has_unread() const { return transport_->has_unread(); }

  // Reads at least one byte. It tries before it waits; who knows that nothing has arrived yet saves that
  // system call by awaiting `wait_readable` and then calling `try_read`.
  Task<IoResult> read_some(std::span<char> into);

  // Writes all parts, gathered. `size` counts what was taken before an error.
  Task<IoResult> write(std::span<const std::string_view> parts);

  // Completes when a read would not wait: bytes are there, the peer closed, or the stream failed or was
  // closed here
  // (`operation_aborted`). Consumes nothing. `try_read` may still say would_block, then wait again.
  Task<Waited> wait_readable() { return transport_->wait_readable(); }
  Task<Waited> wait_writable() { return transport_->wait_writable(); }

  // The same as a callback, called once, later, on the stream's thread, or never if the executor stops first.
  // Counts as the operation of its side until then.
  void on_readable(std::move_only_function<void(ErrorCode)> notify) { transport_->on_readable(std::move(notify)); }
  void on_writable(std::move_only_function<void(ErrorCode)> notify) { transport_->on_writable(std::move(notify)); }

  // Whoever waits, also within `write`, is told `operation_aborted`. Nothing else changes: it can be waited for
  // again.
  void stop_waiting() { transport_->stop_waiting(); }

  // Over TLS, must complete before anything else; nothing to do otherwise.
  Task<Result<>> handshake() { return transport_->handshake(); }

  // Tells the peer that nothing more will be written, as far as that is possible without waiting. Reading
  // goes on.
  void shutdown() { transport_->shutdown(); }

  // Operations under way end with `operation_aborted`, and so does every later one. May be called again.
  void close() { transport_->close(); }

  // The socket's descriptor, -1 once closed or where there is none.
  int native_handle() const { return transport_->native_handle(); }
  bool is_tls() const { return transport_->is_tls(); }
  const Peer& peer() const { return transport_->peer(); }
  Executor executor() const { return transport_->executor(); }

  // Gives up the transport, to layer another one over it.
  std::unique_ptr<Transport> release() { return std::move(transport_); }

 private:
  std::unique_ptr<Transport> transport_;
};

// Drops the first `count` bytes of parts that were written in part, and with them empty parts at the front.
void drop_front(std::vector<std::string_view>& parts, std::size_t count);

}  // namespace proteus::net
