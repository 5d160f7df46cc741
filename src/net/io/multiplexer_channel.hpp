#pragma once

#include <algorithm>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "net/io/completion.hpp"
#include "net/io/multiplexer.hpp"

// The state and the transport of a stream over a Multiplexer. For multiplexer.cpp only.
namespace proteus::net {

// This side's state of a stream. Shared by the stream's owner and the multiplexer.
struct Multiplexer::Half {
  Half(std::uint32_t its_number, const Executor& on) : number(its_number), executor(on) {}

  static constexpr std::size_t kMostMemoryKept = std::size_t{16} << 10U;

  bool has_unread() const { return read < received.size(); }
  bool can_read() const { return has_unread() || is_ended_there || error; }

  const std::uint32_t number;
  const Executor executor;  // the multiplexer's, which may be destroyed earlier
  std::string received;
  std::size_t read = 0;         // how much of `received` was read
  std::size_t taken = 0;        // bytes read since the last `room` frame
  std::size_t ungranted = 0;    // bytes received that no `room` frame has granted again
  std::size_t room = kWindow;   // bytes that the other side still takes
  bool is_ended_there = false;  // nothing more will arrive
  bool is_ended_here = false;   // nothing more will be written
  bool is_told = false;         // in `readable_`
  bool is_in_line = false;      // in `writers_`
  ErrorCode error;
  Callback reader;
  Callback writer;
};

inline void call_later(const Executor& executor, Multiplexer::Callback& callback, ErrorCode error) {
  if (!callback) return;
  boost::asio::post(executor, [callback = std::exchange(callback, nullptr), error]() mutable { callback(error); });
}

// The transport of one stream, for its owner.
class Multiplexer::Channel final : public Transport {
 public:
  Channel(std::shared_ptr<Multiplexer> link, std::shared_ptr<Half> half)
      : link_(std::move(link)), half_(std::move(half)) {}
  ~Channel() override { close(); }

  IoResult try_read(std::span<char> into) override {
    if (!half_) return {boost::asio::error::operation_aborted, 0};
    if (!half_->has_unread()) {
      if (half_->is_ended_there) return {boost::asio::error::eof, 0};
      if (half_->error) return {half_->error, 0};
      return {boost::asio::error::would_block, 0};
    }
    const std::size_t size = half_->received.copy(into.data(), into.size(), half_->read);
    half_->read += size;
    half_->taken += size;
    if (!half_->has_unread()) {
      half_->received.clear();
      half_->read = 0;
      if (half_->received.capacity() > Half::kMostMemoryKept) half_->received = {};
    }
    if (half_->taken >= kWindow / 2 && !half_->is_ended_there && !half_->error) {
      link_->append(half_->number, Kind::room, half_->taken);
      half_->ungranted -= std::exchange(half_->taken, 0);
      // Drops the bytes that were read, so that they do not pile up if the reader never catches up.
      half_->received.erase(0, std::exchange(half_->read, 0));
    }
    return {{}, size};
  }

  IoResult try_write(std::span<const std::string_view> parts) override {
    if (!half_) return {boost::asio::error::operation_aborted, 0};
    if (half_->error) return {half_->error, 0};
    if (half_->is_ended_here) return {boost::asio::error::broken_pipe, 0};
    std::size_t left = 0;
    for (const std::string_view part : parts)
      left += part.size();
    std::size_t written = 0;
    std::size_t offset = 0;  // into the first part
    while (left > 0) {
      if (half_->room == 0 || !link_->has_space()) return {boost::asio::error::would_block, written};
      const std::size_t size = std::min({left, half_->room, kMostInFrame});
      link_->append(half_->number, Kind::data, size);
      for (std::size_t missing = size; missing > 0;) {
        const std::string_view some = parts.front().substr(offset, missing);
        link_->out_.append(some);
        missing -= some.size();
        offset += some.size();
        if (offset < parts.front().size()) continue;
        parts = parts.subspan(1);
        offset = 0;
      }
      half_->room -= size;
      left -= size;
      written += size;
    }
    return {{}, written};
  }

  bool has_news() const override { return !half_ || half_->can_read(); }
  bool has_unread() const override { return half_ && half_->has_unread(); }

  Task<Waited> wait_readable() override {
    return wait(&Half::reader, [this](Callback callback) { on_readable(std::move(callback)); });
  }
  Task<Waited> wait_writable() override {
    return wait(&Half::writer, [this](Callback callback) { on_writable(std::move(callback)); });
  }

  void on_readable(Callback notify) override {
    if (half_ && !half_->can_read()) {
      half_->reader = std::move(notify);
    } else {
      call_later(link_->executor_, notify, half_ ? ErrorCode() : boost::asio::error::operation_aborted);
    }
  }

  void on_writable(Callback notify) override {
    if (half_ && !half_->error && (half_->room == 0 || !link_->has_space())) {
      half_->writer = std::move(notify);
      if (half_->room > 0 && !std::exchange(half_->is_in_line, true)) link_->writers_.push_back(half_);
    } else {
      call_later(link_->executor_, notify, half_ ? ErrorCode() : boost::asio::error::operation_aborted);
    }
  }

  void stop_waiting() override {
    if (!half_) return;
    call_later(link_->executor_, half_->reader, boost::asio::error::operation_aborted);
    call_later(link_->executor_, half_->writer, boost::asio::error::operation_aborted);
  }

  Task<Result<>> handshake() override { co_return Result<>{}; }

  void shutdown() override {
    if (!half_ || half_->error || std::exchange(half_->is_ended_here, true)) return;
    link_->append(half_->number, Kind::end, 0);
  }

  void close() override {
    if (!half_) return;
    stop_waiting();
    if (!half_->error) {
      if (!half_->is_ended_here || !half_->is_ended_there) link_->append(half_->number, Kind::reset, 0);
      link_->channels_.erase(half_->number);
    }
    half_ = nullptr;
  }

  int native_handle() const override { return -1; }
  bool is_tls() const override { return link_->below_.is_tls(); }
  const Peer& peer() const override { return link_->below_.peer(); }
  Executor executor() const override { return link_->executor_; }

 private:
  template <class Begin>
  Task<Waited> wait(Callback Half::* side, Begin begin) {
    return boost::asio::async_initiate<decltype(kAwaited), void(ErrorCode)>(
        [this, side, begin](auto handler) {
          auto slot = boost::asio::get_associated_cancellation_slot(handler);
          if (slot.is_connected()) {
            slot.assign([half = std::weak_ptr(half_), side](boost::asio::cancellation_type) {
              if (const auto still = half.lock())
                call_later(still->executor, (*still).*side, boost::asio::error::operation_aborted);
            });
          }
          begin(std::move(handler));
        },
        kAwaited);
  }

  const std::shared_ptr<Multiplexer> link_;
  std::shared_ptr<Half> half_;  // null once the stream is closed
};

}  // namespace proteus::net
