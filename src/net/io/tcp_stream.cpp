#include "net/io/tcp_stream.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/unique_fd.hpp"
#include "net/io/completion.hpp"
#include "net/io/readiness.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

ErrorCode read_or_write_error() {
  if (errno == EAGAIN || errno == EWOULDBLOCK) return asio::error::would_block;
  return {errno, boost::system::system_category()};
}

#if __has_feature(thread_sanitizer)
// ThreadSanitizer intercepts these functions, and so learns that a receive in one thread happens after the send in
// another.
long receive(int socket, std::span<char> into) { return ::recv(socket, into.data(), into.size(), MSG_DONTWAIT); }
long send(int socket, std::span<const char> bytes) {
  return ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}
#else
// In a multithreaded program the C library's functions are thread cancellation points, which costs more than their
// work. No thread is cancelled here.
long receive(int socket, std::span<char> into) {
  return ::syscall(SYS_recvfrom, socket, into.data(), into.size(), MSG_DONTWAIT, nullptr, nullptr);
}
long send(int socket, std::span<const char> bytes) {
  return ::syscall(SYS_sendto, socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0);
}
#endif

// Copying a few small parts costs less than describing each of them to the kernel.
constexpr std::size_t kGathered = 4096;

// Copies the parts into `into`. Returns their size, or 0 if they do not fit.
std::size_t gather(std::span<const std::string_view> parts, std::span<char> into) {
  std::size_t size = 0;
  for (const std::string_view part : parts) {
    if (part.size() > into.size() - size) return 0;
    std::memcpy(into.data() + size, part.data(), part.size());
    size += part.size();
  }
  return size;
}

// Writes the address of an IPv4 client of a dual-stack socket as IPv4.
std::string to_text(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(TcpSocket socket) : executor_(socket.get_executor()) {
    ErrorCode ignored;
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    const auto remote = socket.remote_endpoint(ignored);
    if (!ignored) peer_ = {to_text(remote.address()), remote.port()};
    if (!socket.is_open()) return;
    socket_ = UniqueFd(socket.release());
    watch_.emplace(asio::use_service<Readiness>(executor_.context()), socket_.get());
  }

  // Makes the system calls directly, because Asio's operations complete through its queue.
  IoResult try_read(std::span<char> into) override {
    if (!socket_) return {asio::error::operation_aborted, 0};
    if (into.empty()) return {};
    while (true) {
      const long got = receive(socket_.get(), into);
      if (got == 0) return {asio::error::eof, 0};
      if (got < 0 && errno == EINTR) continue;
      if (got < static_cast<long>(into.size())) watch_->exhausted(Readiness::Side::read);
      if (got < 0) return {read_or_write_error(), 0};
      return {{}, static_cast<std::size_t>(got)};
    }
  }

  IoResult try_write(std::span<const std::string_view> parts) override {
    if (!socket_) return {asio::error::operation_aborted, 0};
    std::array<char, kGathered> gathered;
    if (const std::size_t size = gather(parts, gathered)) {
      return written([&] { return send(socket_.get(), {gathered.data(), size}); }, size);
    }
    IoResult all;
    while (!parts.empty()) {
      std::array<iovec, 32> vectors;
      const std::size_t count = std::min(parts.size(), vectors.size());
      std::size_t wanted = 0;
      bool cut = false;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t size = std::min(parts[i].size(), kMostAtOnce - all.size - wanted);
        vectors[i] = {const_cast<char*>(parts[i].data()), size};
        wanted += size;
        cut = cut || size < parts[i].size();
      }
      parts = parts.subspan(count);
      if (wanted > 0) {
        msghdr message{};
        message.msg_iov = vectors.data();
        message.msg_iovlen = count;
        // More follows: let the kernel fill its segments.
        const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (parts.empty() ? 0 : MSG_MORE);
        const IoResult some = written([&] { return ::sendmsg(socket_.get(), &message, flags); }, wanted);
        all = {some.error, all.size + some.size};
      }
      // The caller waits until the stream is writable, and other handlers run meanwhile.
      if (cut && !all.error) all.error = asio::error::would_block;
      if (all.error) break;
    }
    return all;
  }

  bool has_news() const override { return !socket_ || watch_->is_ready(Readiness::Side::read); }
  bool has_unread() const override {
    char first = 0;
    return ::recv(socket_.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  }
  Task<Waited> wait_readable() override { return wait(Readiness::Side::read); }
  Task<Waited> wait_writable() override { return wait(Readiness::Side::write); }

  void on_readable(std::move_only_function<void(ErrorCode)> notify) override {
    start_waiting(Readiness::Side::read, std::move(notify));
  }
  void on_writable(std::move_only_function<void(ErrorCode)> notify) override {
    start_waiting(Readiness::Side::write, std::move(notify));
  }

  void stop_waiting() override {
    if (!watch_) return;
    watch_->cancel(Readiness::Side::read);
    watch_->cancel(Readiness::Side::write);
  }

  Task<Result<>> handshake() override { co_return Result<>{}; }

  void shutdown() override {
    if (socket_) ::shutdown(socket_.get(), SHUT_WR);
  }

  void close() override {
    if (watch_) watch_->stop();
    socket_.reset();
  }

  int native_handle() const override { return socket_.get(); }
  bool is_tls() const override { return false; }
  const Peer& peer() const override { return peer_; }
  Executor executor() const override { return executor_; }

 private:
  // Makes a system call that should write `wanted` bytes, and returns its outcome.
  template <class SystemCall>
  IoResult written(SystemCall&& call, std::size_t wanted) {
    long sent = 0;
    do {
      sent = call();
    } while (sent < 0 && errno == EINTR);
    if (sent == static_cast<long>(wanted)) return {{}, wanted};
    watch_->exhausted(Readiness::Side::write);
    if (sent < 0) return {read_or_write_error(), 0};
    return {asio::error::would_block, static_cast<std::size_t>(sent)};
  }

  Task<Waited> wait(Readiness::Side side) {
    return asio::async_initiate<decltype(kAwaited), void(ErrorCode)>(
        [this, side](auto handler) {
          auto slot = asio::get_associated_cancellation_slot(handler);
          if (slot.is_connected()) slot.assign([this, side](asio::cancellation_type) { watch_->cancel(side); });
          start_waiting(side, std::move(handler));
        },
        kAwaited);
  }

  void start_waiting(Readiness::Side side, Readiness::Callback callback) {
    if (watch_) return watch_->wait(side, std::move(callback));
    asio::post(executor_, [callback = std::move(callback)]() mutable { callback(asio::error::operation_aborted); });
  }

  asio::io_context::executor_type executor_;
  UniqueFd socket_;
  std::optional<Readiness::Watch> watch_;  // destroyed before the socket
  Peer peer_;
};

}  // namespace

Stream tcp_stream(TcpSocket socket) { return Stream(std::make_unique<TcpTransport>(std::move(socket))); }

}  // namespace proteus::net
