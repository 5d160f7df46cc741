#include "net/io/multiplexer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/log/log.hpp"
#include "net/io/multiplexer_channel.hpp"

namespace proteus::net {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kReadAtOnce = std::size_t{64} << 10U;
static_assert(kReadAtOnce > Multiplexer::kHead + Multiplexer::kMostInFrame);
// Number of reads in one turn. Limited, so that a peer that sends without end does not starve others.
constexpr int kMostReads = 4;
// Time for the other side to acknowledge what was sent; then it counts as gone.
constexpr int kUnheardForMs = 10'000;

const ErrorCode broken_rules = make_error_code(boost::system::errc::protocol_error);

std::uint32_t number_at(const char* bytes, std::size_t count) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < count; ++i)
    number = number << 8U | static_cast<unsigned char>(bytes[i]);
  return number;
}

}  // namespace

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
  auto half = std::make_shared<Half>(++last_number_, executor_);
  channels_.emplace(half->number, half);
  append(half->number, Kind::data, 0);  // numbers arrive in order, whichever stream writes first
  return Stream(std::make_unique<Channel>(shared_from_this(), std::move(half)));
}

void Multiplexer::close() {
  if (error_) return;
  below_.stop_waiting();  // `flush` may wait again
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
  read_now();
  if (!error_) wait_to_read();
}

void Multiplexer::read_now() {
  // No callback should throw, but memory may run out in any. What has been taken and not handed over is then lost, so
  // that no stream could go on.
  try {
    read_some();
  } catch (...) {
    log::error("a handler of a stream threw, so all streams beside it end");
    if (!error_) fail(make_error_code(boost::system::errc::not_enough_memory));
  }
}

void Multiplexer::read_some() {
  for (int i = 0; i < kMostReads; ++i) {
    if (begin_ > 0) std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    const auto [error, size] = below_.try_read(std::span(in_).subspan(end_));
    if (error == asio::error::would_block) break;
    end_ += size;
    const ErrorCode broken = error ? error : take_frames();
    // Readers get what has arrived before they learn that nothing more will come.
    tell_readers();
    if (broken && !error_) return fail(broken);
    if (error_) return;
    if (!below_.has_news()) break;
  }
}

ErrorCode Multiplexer::take_frames() {
  while (end_ - begin_ >= kHead) {
    const char* const head = in_.data() + begin_;
    const std::uint32_t number = number_at(head, 4);
    const Kind kind{static_cast<unsigned char>(head[4])};
    const std::size_t length = number_at(head + 5, 3);
    const std::size_t follows = kind == Kind::data ? length : 0;
    if (follows > kMostInFrame) return broken_rules;
    if (end_ - begin_ < kHead + follows) break;
    begin_ += kHead + follows;
    if (const ErrorCode error = take_frame(number, kind, length, {head + kHead, follows})) return error;
  }
  return {};
}

ErrorCode Multiplexer::take_frame(std::uint32_t number, Kind kind, std::size_t length, std::string_view payload) {
  if (kind == Kind::data) return take_data(number, payload);
  const auto found = channels_.find(number);
  if (kind < Kind::data || kind > Kind::room || (kind != Kind::room && length > 0)) return broken_rules;
  // The stream was closed here, and the other side does not know that yet.
  if (found == channels_.end()) return {};
  const auto half = found->second;
  if (kind == Kind::room) {
    if (length > kWindow - half->room) return broken_rules;
    // A writer that still had room waits for space, and continues when its turn comes.
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
    found = channels_.emplace(number, std::make_shared<Half>(number, executor_)).first;
    found->second->received = payload;
    found->second->ungranted = payload.size();
    opened_.push_back(found->second);
    return {};
  }
  Half& half = *found->second;
  if (half.is_ended_there || payload.size() > kWindow - half.ungranted) return broken_rules;
  half.received.append(payload);
  half.ungranted += payload.size();
  if (!payload.empty() && !std::exchange(half.is_told, true)) readable_.push_back(found->second);
  return {};
}

// The callbacks may open and close streams, and close the multiplexer.
void Multiplexer::tell_readers() {
  // Each stream is handed over with everything that has arrived by now, so that `has_unread` reports it.
  for (std::size_t i = 0; i < opened_.size(); ++i)
    on_opened_(Stream(std::make_unique<Channel>(shared_from_this(), std::move(opened_[i]))));
  opened_.clear();
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
