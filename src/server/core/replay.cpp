#include "server/core/replay.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "net/http/sse.hpp"

namespace proteus::server {
namespace {

// Limits of the announcements that wait for a client: room for all to which a session can be subscribed, unless their
// URIs are very long.
constexpr std::size_t kMostWaiting = 1'024;
constexpr std::size_t kMostWaitingBytes = std::size_t{4} << 20U;

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || status != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string write_event_id(EventId id) { return fmt::format("{}-{}", id.stream, id.number); }

std::string write_event(EventId id, std::string_view message) {
  const std::string text = write_event_id(id);
  std::string out;
  net::write_sse_event(out, {.data = message, .id = text});
  return out;
}

std::optional<EventId> parse_event_id(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto stream = number(text.substr(0, dash));
  const auto event = number(text.substr(dash + 1));
  if (!stream || !event) return std::nullopt;
  return EventId{*stream, *event};
}

ReplayStream::~ReplayStream() {
  if (store_ == nullptr) return;
  left_ ? store_->leave(id_) : store_->forget(id_);
}

void ReplayStream::leave() {
  const std::scoped_lock lock(mutex_);
  left_ = true;
}

std::string ReplayStream::frame(std::uint64_t number, std::string_view message) const {
  return write_event({id_.stream, number}, message);
}

void ReplayStream::push(std::string_view message) {
  const std::scoped_lock lock(mutex_);
  push_locked(message);
}

void ReplayStream::push_once(std::string_view message) {
  const std::scoped_lock lock(mutex_);
  if (outbox_ && outbox_->closed()) outbox_.reset();
  // Without a connection, no message in `waiting_` counts as delivered.
  if (!outbox_ && once_.contains(message)) return;
  push_locked(message);
  if (!outbox_) keep_waiting(message);
}

void ReplayStream::keep_waiting(std::string_view message) {
  waiting_.push_back({last_, std::string(message)});
  once_.insert(waiting_.back().message);
  waiting_bytes_ += message.size();
  while (waiting_.size() > kMostWaiting || waiting_bytes_ > kMostWaitingBytes) {
    const std::string& oldest = waiting_.front().message;
    waiting_bytes_ -= oldest.size();
    once_.erase(oldest);
    waiting_.pop_front();
  }
}

void ReplayStream::push_if_opened(std::string_view message) {
  const std::scoped_lock lock(mutex_);
  if (opened_) push_locked(message);
}

void ReplayStream::push_locked(std::string_view message) {
  if (finished_) return;
  ++last_;
  if (store_ != nullptr) store_->append(id_, last_, message);
  if (!outbox_) return;
  if (outbox_->push(frame(last_, message))) {
    sent_ = last_;
  } else {
    outbox_.reset();
  }
}

void ReplayStream::finish() {
  const std::scoped_lock lock(mutex_);
  finished_ = true;
  if (outbox_) outbox_->close();
  outbox_.reset();
}

void ReplayStream::begin(std::shared_ptr<Outbox> outbox, Prime prime) {
  const std::scoped_lock lock(mutex_);
  if (prime == Prime::yes) outbox->push(frame(0, {}));
  take_over(std::move(outbox));
}

Task<ReplayStream::Attach> ReplayStream::attach(std::shared_ptr<Outbox> outbox, std::optional<std::uint64_t> wanted,
                                                std::weak_ptr<void> place) {
  Resumption resumption{.outbox = outbox, .exact = wanted.has_value()};
  {
    const std::scoped_lock lock(mutex_);
    resumption.after = wanted.value_or(sent_);
    resumption.known = last_;
    if (resumption.after > last_) co_return Attach::gone;
  }
  for (;;) {
    Result<std::vector<KeptEvent>> kept;
    if (store_ != nullptr) kept = co_await store_->read_after(id_, resumption.after);
    if (!kept) co_return Attach::gone;
    const std::scoped_lock lock(mutex_);
    const Caught caught = catch_up(resumption, *kept);
    if (caught == Caught::gone) co_return Attach::gone;
    if (caught == Caught::behind) continue;
    place_ = std::move(place);
    take_over(std::move(outbox));
    co_return Attach::attached;
  }
}

ReplayStream::Caught ReplayStream::catch_up(Resumption& resumption, const std::vector<KeptEvent>& kept) {
  const std::uint64_t first = kept.empty() ? resumption.known + 1 : kept.front().number;
  const bool lost = first > resumption.after + 1;
  if (lost && resumption.exact) return Caught::gone;
  if (lost) resumption.lost_below = first;
  for (const auto& event : kept)
    resumption.outbox->push(frame(event.number, event.message));
  resumption.after = kept.empty() ? std::max(resumption.after, resumption.known) : kept.back().number;
  resumption.known = last_;
  if (resumption.after < last_) return Caught::behind;
  // Messages from `push_once` that the store has dropped meanwhile are sent again.
  once_.clear();
  waiting_bytes_ = 0;
  for (const auto& [number, message] : std::exchange(waiting_, {})) {
    if (number >= resumption.lost_below || finished_) continue;
    ++last_;
    if (store_ != nullptr) store_->append(id_, last_, message);
    resumption.outbox->push(frame(last_, message));
  }
  return Caught::up;
}

void ReplayStream::take_over(std::shared_ptr<Outbox> outbox) {
  if (outbox_) outbox_->close();
  outbox_ = std::move(outbox);
  opened_ = true;
  sent_ = last_;
  if (finished_) {
    outbox_->close();
    outbox_.reset();
  }
}

void ReplayStream::detach(std::optional<std::chrono::milliseconds> retry) {
  const std::scoped_lock lock(mutex_);
  if (!outbox_) return;
  if (retry) outbox_->push(fmt::format("retry: {}\n\n", retry->count()));
  outbox_->close();
  outbox_.reset();
}

bool ReplayStream::attached() {
  const std::scoped_lock lock(mutex_);
  return outbox_ != nullptr && !outbox_->closed();
}

bool ReplayStream::finished() {
  const std::scoped_lock lock(mutex_);
  return finished_;
}

std::shared_ptr<void> ReplayStream::place() {
  const std::scoped_lock lock(mutex_);
  return place_.lock();
}

}  // namespace proteus::server
