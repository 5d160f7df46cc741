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

#include "base/tasks/task.hpp"

namespace proteus::net {

using ErrorCode = boost::system::error_code;

// Outcome of a read or a write. The error is `boost::asio::error::eof` if the peer closed in order, and
// `boost::asio::error::would_block` if the operation would have to wait.
struct IoResult {
  ErrorCode error;
  std::size_t size = 0;
};

// A tuple, because Asio can return one without an additional coroutine frame.
using Waited = std::tuple<ErrorCode>;

struct Peer {
  std::string address;  // numeric, without brackets; empty if there is no network below the stream
  std::uint16_t port = 0;
};

// Limit of one write, because the bytes are copied or encrypted while other handlers wait. A caller with more to write
// waits until the stream is writable, which lets the others run.
inline constexpr std::size_t kMostAtOnce = std::size_t{256} << 10U;

// The implementation of a Stream: moves bytes without waiting, and can wait until that is possible. Plain TCP is in
// tcp_stream.hpp, TLS over another transport in tls.hpp, many streams over one in multiplexer.hpp, a pair in memory in
// memory_stream.hpp.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual IoResult try_read(std::span<char> into) = 0;
  // May take only some of the bytes; `size` says how many.
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

// A connected, ordered stream of bytes. Move-only. Belongs to one thread, that of the executor it was made with. At
// most one read and one write operation may be pending. I/O errors are values; only the cancellation of the awaiting
// coroutine throws. Buffers and parts are borrowed and must outlive the operation.
class Stream {
 public:
  Stream() = default;
  explicit Stream(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  explicit operator bool() const { return transport_ != nullptr; }

  // Return `would_block` instead of waiting.
  IoResult try_read(std::span<char> into) { return transport_->try_read(into); }
  IoResult try_write(std::span<const std::string_view> parts) { return transport_->try_write(parts); }

  // Returns false if nothing has arrived since everything was read, so that there is something to wait for. Makes no
  // system call: bytes that arrived just now may not be known yet.
  bool has_news() const { return transport_->has_news(); }

  // Whether unread bytes have arrived, as far as this side knows.
  bool has_unread() const { return transport_->has_unread(); }

  // Reads at least one byte. Tries before it waits; a caller that knows that nothing has arrived yet saves that system
  // call by awaiting `wait_readable` and then calling `try_read`.
  Task<IoResult> read_some(std::span<char> into);

  // Writes all parts, gathered. `size` counts the bytes that were taken before an error.
  Task<IoResult> write(std::span<const std::string_view> parts);

  // Completes when a read would not wait: bytes have arrived, the peer closed, or the stream failed or was closed here
  // (`operation_aborted`). Consumes nothing. `try_read` may still return would_block; then wait again.
  Task<Waited> wait_readable() { return transport_->wait_readable(); }
  Task<Waited> wait_writable() { return transport_->wait_writable(); }

  // Like `wait_readable` and `wait_writable`, with a callback: called once, later, on the stream's thread, or never if
  // the executor stops first. Until then it counts as the pending operation of its side. It must not throw.
  void on_readable(std::move_only_function<void(ErrorCode)> notify) { transport_->on_readable(std::move(notify)); }
  void on_writable(std::move_only_function<void(ErrorCode)> notify) { transport_->on_writable(std::move(notify)); }

  // Ends pending waits, also within `write`, with `operation_aborted`. Nothing else changes: new waits are possible.
  void stop_waiting() { transport_->stop_waiting(); }

  // Over TLS, must complete before anything else; does nothing otherwise.
  Task<Result<>> handshake() { return transport_->handshake(); }

  // Notifies the peer that nothing more will be written, as far as that is possible without waiting. Reading remains
  // possible.
  void shutdown() { transport_->shutdown(); }

  // Ends pending operations, and every later one, with `operation_aborted`. Idempotent.
  void close() { transport_->close(); }

  // Returns the socket's descriptor; -1 if the stream is closed or has no socket.
  int native_handle() const { return transport_->native_handle(); }
  bool is_tls() const { return transport_->is_tls(); }
  const Peer& peer() const { return transport_->peer(); }
  Executor executor() const { return transport_->executor(); }

  // Releases the transport, to layer another one over it.
  std::unique_ptr<Transport> release() { return std::move(transport_); }

 private:
  std::unique_ptr<Transport> transport_;
};

// Drops the first `count` bytes, which were written, and empty parts that then stand at the front.
void drop_front(std::vector<std::string_view>& parts, std::size_t count);

}  // namespace proteus::net
