#include "net/io/memory_stream.hpp"

#include <algorithm>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "net/io/completion.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

// One direction. The timers never expire; cancelling one wakes its waiters.
struct Pipe {
  Pipe(const Executor& executor, std::size_t limit) : capacity(limit), readable(executor), writable(executor) {
    readable.expires_at(asio::steady_timer::time_point::max());
    writable.expires_at(asio::steady_timer::time_point::max());
  }

  bool can_read() const { return !bytes.empty() || finished || reader_gone; }
  bool can_write() const { return bytes.size() < capacity || finished || reader_gone; }

  void wake() {
    if (can_read()) readable.cancel();
    if (can_write()) writable.cancel();
  }

  std::string bytes;
  std::size_t capacity;
  bool finished = false;      // nothing more will be written
  bool reader_gone = false;   // nobody will read any more
  unsigned reader_stops = 0;  // calls of `stop_waiting`
  unsigned writer_stops = 0;
  asio::steady_timer readable;
  asio::steady_timer writable;
};

class MemoryTransport final : public Transport {
 public:
  MemoryTransport(Executor executor, std::shared_ptr<Pipe> in, std::shared_ptr<Pipe> out)
      : executor_(std::move(executor)), in_(std::move(in)), out_(std::move(out)) {}
  ~MemoryTransport() override { close_ends(); }

  IoResult try_read(std::span<char> into) override {
    if (in_->reader_gone) return {asio::error::operation_aborted, 0};
    if (in_->bytes.empty()) {
      if (in_->finished) return {asio::error::eof, 0};
      return {asio::error::would_block, 0};
    }
    const std::size_t count = in_->bytes.copy(into.data(), into.size());
    in_->bytes.erase(0, count);
    in_->wake();
    return {{}, count};
  }

  IoResult try_write(std::span<const std::string_view> parts) override {
    if (in_->reader_gone) return {asio::error::operation_aborted, 0};
    if (out_->reader_gone || out_->finished) return {asio::error::broken_pipe, 0};
    std::size_t written = 0;
    for (const std::string_view part : parts) {
      const std::size_t room = out_->capacity - std::min(out_->capacity, out_->bytes.size());
      out_->bytes.append(part.substr(0, room));
      written += std::min(room, part.size());
      if (room < part.size()) {
        out_->wake();
        return {asio::error::would_block, written};
      }
    }
    out_->wake();
    return {{}, written};
  }

  Task<Waited> wait_readable() override {
    auto pipe = in_;
    const unsigned stops = pipe->reader_stops;
    while (!pipe->can_read() && pipe->reader_stops == stops)
      co_await pipe->readable.async_wait(kAwaited);
    const bool aborted = pipe->reader_gone || pipe->reader_stops != stops;
    co_return Waited{aborted ? ErrorCode(asio::error::operation_aborted) : ErrorCode()};
  }

  Task<Waited> wait_writable() override {
    auto pipe = out_;
    const unsigned stops = pipe->writer_stops;
    while (!pipe->can_write() && pipe->writer_stops == stops)
      co_await pipe->writable.async_wait(kAwaited);
    const bool aborted = pipe->finished || pipe->writer_stops != stops;
    co_return Waited{aborted ? ErrorCode(asio::error::operation_aborted) : ErrorCode()};
  }

  void on_readable(std::move_only_function<void(ErrorCode)> notify) override {
    auto done = [pipe = in_, stops = in_->reader_stops, notify = std::move(notify)](ErrorCode) mutable {
      const bool aborted = pipe->reader_gone || pipe->reader_stops != stops;
      notify(aborted ? ErrorCode(asio::error::operation_aborted) : ErrorCode());
    };
    if (in_->can_read()) {
      asio::post(executor_, [done = std::move(done)]() mutable { done({}); });
    } else {
      in_->readable.async_wait(std::move(done));
    }
  }

  bool has_unread() const override { return !in_->bytes.empty(); }

  void on_writable(std::move_only_function<void(ErrorCode)> notify) override {
    auto done = [pipe = out_, stops = out_->writer_stops, notify = std::move(notify)](ErrorCode) mutable {
      const bool aborted = pipe->finished || pipe->writer_stops != stops;
      notify(aborted ? ErrorCode(asio::error::operation_aborted) : ErrorCode());
    };
    if (out_->can_write()) {
      asio::post(executor_, [done = std::move(done)]() mutable { done({}); });
    } else {
      out_->writable.async_wait(std::move(done));
    }
  }

  void stop_waiting() override {
    ++in_->reader_stops;
    in_->readable.cancel();
    ++out_->writer_stops;
    out_->writable.cancel();
  }

  Task<Result<>> handshake() override { co_return Result<>{}; }

  void shutdown() override {
    out_->finished = true;
    out_->wake();
  }

  void close() override { close_ends(); }

  int native_handle() const override { return -1; }
  bool is_tls() const override { return false; }
  const Peer& peer() const override { return peer_; }
  Executor executor() const override { return executor_; }

 private:
  void close_ends() {
    in_->reader_gone = true;
    in_->wake();
    out_->finished = true;
    out_->wake();
  }

  Executor executor_;
  std::shared_ptr<Pipe> in_;
  std::shared_ptr<Pipe> out_;
  Peer peer_;
};

}  // namespace

std::pair<Stream, Stream> memory_streams(const Executor& executor, std::size_t capacity) {
  auto there = std::make_shared<Pipe>(executor, capacity);
  auto back = std::make_shared<Pipe>(executor, capacity);
  return {Stream(std::make_unique<MemoryTransport>(executor, back, there)),
          Stream(std::make_unique<MemoryTransport>(executor, there, back))};
}

}  // namespace proteus::net
