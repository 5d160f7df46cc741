#include "net/io/multiplexer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "net/io/completion.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;
using Callback = std::move_only_function<void(ErrorCode)>;

constexpr std::size_t kReadAtOnce = std::size_t{64} << 10U;
static_assert(kReadAtOnce > Multiplexer::kHead + Multiplexer::kMostInFrame);
// So often in one turn: who sends without end leaves others theirs.
constexpr int kMostReads = 4;
constexpr std::size_t kMostMemoryKept = std::size_t{16} << 10U;
// What was sent has arrived by then, or the other side is not there.
constexpr int kUnheardForMs = 10'000;

const ErrorCode kBrokenRules = make_error_code(boost::system::errc::protocol_error);

std::uint32_t number_at(const char* bytes, std::size_t count) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < count; ++i)
    number = number << 8U | static_cast<unsigned char>(bytes[i]);
  return number;
}

}  // namespace

// What one side knows of a stream. Its owner and the multiplexer hold it.
struct Multiplexer::Half {
  explicit Half(std::uint32_t its_number) : number(its_number) {}

  bool has_unread() const { return read < received.size(); }
  bool can_read() const { return has_unread() || is_ended_there || error; }

  const std::uint32_t number;
  std::string received;
  std::size_t read = 0;         // of it
  std::size_t taken = 0;        // read since the other side was told of room
  std::size_t ungranted = 0;    // received since then
  std::size_t room = kWindow;   // that the other side has
  bool is_ended_there = false;  // nothing more will come
  bool is_ended_here = false;   // nothing more will be written
  bool is_told = false;         // that it can be read, once all frames are taken
  bool is_in_line = false;      // to write
  ErrorCode error;
  Callback reader;
  Callback writer;
};

namespace {

void call_later(const Executor& executor, Callback& callback, ErrorCode error) {
  if (!callback) return;
  asio::post(executor, [callback = std::exchange(callback, nullptr), error]() mutable { callback(error); });
}

}  // namespace

// One of the streams, for its owner.
class Multiplexer::Channel final : public Transport {
 public:
  Channel(std::shared_ptr<Multiplexer> link, std::shared_ptr<Half> half)
      : link_(std::move(link)), half_(std::move(half)) {}
  ~Channel() override { close(); }

  IoResult try_read(std::span<char> into) override {
    if (!half_) return {asio::error::operation_aborted, 0};
    if (!half_->has_unread()) {
      if (half_->is_ended_there) return {asio::error::eof, 0};
      if (half_->error) return {half_->error, 0};
      return {asio::error::would_block, 0};
    }
    const std::size_t size = half_->received.copy(into.data(), into.size(), half_->read);
    half_->read += size;
    half_->taken += size;
    if (!half_->has_unread()) {
      half_->received.clear();
      half_->read = 0;
      if (half_->received.capacity() > kMostMemoryKept) half_->received = {};
    }
    if (half_->taken >= kWindow / 2 && !half_->is_ended_there && !half_->error) {
      link_->append(half_->number, Kind::room, half_->taken);
      half_->ungranted -= std::exchange(half_->taken, 0);
    }
    return {{}, size};
  }

  IoResult try_write(std::span<const std::string_view> parts) override {
    if (!half_) return {asio::error::operation_aborted, 0};
    if (half_->error) return {half_->error, 0};
    if (half_->is_ended_here) return {asio::error::broken_pipe, 0};
    std::size_t left = 0;
    for (const std::string_view part : parts)
      left += part.size();
    std::size_t written = 0;
    std::size_t offset = 0;  // into the first part
    while (left > 0) {
      if (half_->room == 0 || !link_->has_space()) return {asio::error::would_block, written};
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
      call_later(link_->executor_, notify, half_ ? ErrorCode() : asio::error::operation_aborted);
    }
  }

  void on_writable(Callback notify) override {
    if (half_ && !half_->error && (half_->room == 0 || !link_->has_space())) {
      half_->writer = std::move(notify);
      if (half_->room > 0 && !std::exchange(half_->is_in_line, true)) link_->writers_.push_back(half_);
    } else {
      call_later(link_->executor_, notify, half_ ? ErrorCode() : asio::error::operation_aborted);
    }
  }

  void stop_waiting() override {
    if (!half_) return;
    call_later(link_->executor_, half_->reader, asio::error::operation_aborted);
    call_later(link_->executor_, half_->writer, asio::error::operation_aborted);
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
    return asio::async_initiate<decltype(kAwaited), void(ErrorCode)>(
        [this, side, begin](auto handler) {
          auto slot = asio::get_associated_cancellation_slot(handler);
          if (slot.is_connected()) {
            slot.assign([executor = link_->executor_, half = std::weak_ptr(half_), side](asio::cancellation_type) {
              if (const auto still = half.lock()) call_later(executor, (*still).*side, asio::error::operation_aborted);
            });
          }
          begin(std::move(handler));
        },
        kAwaited);
  }

  const std::shared_ptr<Multiplexer> link_;
  std::shared_ptr<Half> half_;  // null once it is closed
};

Multiplexer::Multiplexer(Stream below, OnOpened on_opened)
    : below_(std::move(below)),
      executor_(below_.executor()),
      readiness_(asio::use_service<Readiness>(asio::query(executor_, asio::execution::context))),
      on_opened_(std::move(on_opened)),
      ended_(executor_),
      in_(kReadAtOnce) {
  if (const int socket = below_.native_handle(); socket >= 0)
    ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnheardForMs, sizeof kUnheardForMs);
}

Multiplexer::~Multiplexer() { below_.close(); }

Stream Multiplexer::open() {
  auto half = std::make_shared<Half>(++last_number_);
  channels_.emplace(half->number, half);
  append(half->number, Kind::data, 0);  // whoever writes first, numbers come in their order
  return Stream(std::make_unique<Channel>(shared_from_this(), std::move(half)));
}

void Multiplexer::close() {
  if (error_) return;
  flush();
  if (!error_) fail(asio::error::operation_aborted);
}

Task<> Multiplexer::wait_for_end() {
  const auto self = shared_from_this();
  while (is_open())
    co_await ended_.wait();
}

void Multiplexer::wait_to_read() {
  below_.on_readable([weak = weak_from_this()](ErrorCode error) {
    const auto self = weak.lock();
    if (!self || self->error_) return;
    if (error) return self->fail(error);
    self->read();
  });
}

void Multiplexer::read() {
  for (int i = 0; i < kMostReads; ++i) {
    if (begin_ > 0) std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    const auto [error, size] = below_.try_read(std::span(in_).subspan(end_));
    if (error == asio::error::would_block) break;
    end_ += size;
    const ErrorCode broken = error ? error : take_frames();
    // Those who have something to read get it before they are told that no more will come.
    tell_readers();
    if (broken && !error_) return fail(broken);
    if (error_) return;
    if (!below_.has_news()) break;
  }
  wait_to_read();
}

ErrorCode Multiplexer::take_frames() {
  while (end_ - begin_ >= kHead) {
    const char* const head = in_.data() + begin_;
    const std::uint32_t number = number_at(head, 4);
    const Kind kind{static_cast<unsigned char>(head[4])};
    const std::size_t length = number_at(head + 5, 3);
    const std::size_t follows = kind == Kind::data ? length : 0;
    if (follows > kMostInFrame) return kBrokenRules;
    if (end_ - begin_ < kHead + follows) break;
    begin_ += kHead + follows;
    if (const ErrorCode error = take_frame(number, kind, length, {head + kHead, follows})) return error;
  }
  return {};
}

ErrorCode Multiplexer::take_frame(std::uint32_t number, Kind kind, std::size_t length, std::string_view payload) {
  if (kind == Kind::data) return take_data(number, payload);
  const auto found = channels_.find(number);
  if (kind < Kind::data || kind > Kind::room || (kind != Kind::room && length > 0)) return kBrokenRules;
  // It was closed here, and the other side has not heard of that yet.
  if (found == channels_.end()) return {};
  const auto half = found->second;
  if (kind == Kind::room) {
    if (length > kWindow - half->room) return kBrokenRules;
    // One that waits for space goes on when its turn comes.
    if (std::exchange(half->room, half->room + length) == 0) call_later(executor_, half->writer, {});
    return {};
  }
  if (kind == Kind::end) {
    half->is_ended_there = true;
  } else {
    half->error = asio::error::connection_reset;
    channels_.erase(found);
    call_later(executor_, half->writer, {});
  }
  if (!std::exchange(half->is_told, true)) readable_.push_back(half);
  return {};
}

ErrorCode Multiplexer::take_data(std::uint32_t number, std::string_view payload) {
  auto found = channels_.find(number);
  if (found == channels_.end()) {
    if (!on_opened_ || number <= last_number_) return {};
    last_number_ = number;
    found = channels_.emplace(number, std::make_shared<Half>(number)).first;
    const auto opened = found->second;
    opened->received = payload;
    opened->ungranted = payload.size();
    on_opened_(Stream(std::make_unique<Channel>(shared_from_this(), opened)));
    return {};
  }
  Half& half = *found->second;
  if (half.is_ended_there || payload.size() > kWindow - half.ungranted) return kBrokenRules;
  half.received.append(payload);
  half.ungranted += payload.size();
  if (!payload.empty() && !std::exchange(half.is_told, true)) readable_.push_back(found->second);
  return {};
}

// Whoever is told may open and close streams, and close all of this.
void Multiplexer::tell_readers() {
  for (std::size_t i = 0; i < readable_.size(); ++i) {
    const auto half = std::move(readable_[i]);
    half->is_told = false;
    if (!half->reader) continue;
    readiness_.beat();
    std::exchange(half->reader, nullptr)(ErrorCode());
  }
  readable_.clear();
}

void Multiplexer::append(std::uint32_t number, Kind kind, std::size_t length) {
  std::array<char, kHead> head;
  for (std::size_t i = 0; i < 4; ++i)
    head[i] = static_cast<char>(number >> (24 - 8 * i));
  head[4] = static_cast<char>(kind);
  for (std::size_t i = 0; i < 3; ++i)
    head[5 + i] = static_cast<char>(length >> (16 - 8 * i));
  out_.append(head.data(), head.size());
  send_soon();
}

void Multiplexer::send_soon() {
  if (std::exchange(is_sent_soon_, true)) return;
  readiness_.at_end_of_turn([self = shared_from_this()] {
    self->is_sent_soon_ = false;
    if (!self->error_) self->flush();
  });
}

void Multiplexer::flush() {
  const std::string_view unsent = std::string_view(out_).substr(sent_);
  if (unsent.empty()) return;
  const auto [error, size] = below_.try_write({&unsent, 1});
  sent_ += size;
  if (sent_ == out_.size()) {
    out_.clear();
    sent_ = 0;
    if (out_.capacity() > kMostUnsent) out_ = {};
  } else if (error != asio::error::would_block) {
    return fail(error ? error : ErrorCode(asio::error::broken_pipe));
  } else {
    out_.erase(0, std::exchange(sent_, 0));
    is_sent_soon_ = true;
    below_.on_writable([weak = weak_from_this()](ErrorCode failed) {
      const auto self = weak.lock();
      if (!self || self->error_) return;
      self->is_sent_soon_ = false;
      if (failed) return self->fail(failed);
      self->flush();
    });
  }
  if (!has_space()) return;
  for (const auto& half : std::exchange(writers_, {})) {
    half->is_in_line = false;
    call_later(executor_, half->writer, {});
  }
}

void Multiplexer::fail(ErrorCode error) {
  error_ = error;
  below_.shutdown();
  below_.close();
  for (const auto& [number, half] : std::exchange(channels_, {})) {
    half->error = error == asio::error::eof ? asio::error::connection_reset : error;
    call_later(executor_, half->reader, {});
    call_later(executor_, half->writer, {});
  }
  writers_.clear();
  out_ = {};
  sent_ = 0;
  ended_.ring();
}

}  // namespace proteus::net
