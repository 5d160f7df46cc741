#include "server/replay.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "net/sse.hpp"

namespace proteus::server {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || status != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string write_event_id(EventId id) { return fmt::format("{}-{}", id.stream, id.number); }

std::optional<EventId> parse_event_id(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto stream = number(text.substr(0, dash));
  const auto event = number(text.substr(dash + 1));
  if (!stream || !event) return std::nullopt;
  return EventId{*stream, *event};
}

std::string ReplayStream::frame(const Event& event) const {
  const std::string id = write_event_id({id_, event.number});
  std::string out;
  net::write_sse_event(out, {.data = event.message, .id = id});
  return out;
}

void ReplayStream::push(std::string_view message) {
  const std::scoped_lock lock(mutex_);
  push_locked(message);
}

void ReplayStream::push_once(std::string_view message) {
  const std::scoped_lock lock(mutex_);
  // Without a connection all kept events are undelivered, as far as this side knows.
  if (outbox_ && outbox_->closed()) outbox_.reset();
  const bool waits =
      !outbox_ && std::ranges::any_of(events_, [&](const Event& event) { return event.message == message; });
  if (!waits) push_locked(message);
}

void ReplayStream::push_locked(std::string_view message) {
  if (finished_) return;
  events_.push_back({++last_, std::string(message)});
  bytes_ += message.size();
  while (events_.size() > limits_.events || (bytes_ > limits_.bytes && events_.size() > 1)) {
    bytes_ -= events_.front().message.size();
    events_.pop_front();
  }
  if (!outbox_) return;
  if (outbox_->push(frame(events_.back()))) {
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

ReplayStream::Attach ReplayStream::attach(std::shared_ptr<Outbox> outbox, std::optional<std::uint64_t> wanted,
                                          bool prime) {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t oldest = events_.empty() ? last_ + 1 : events_.front().number;
  const std::uint64_t after = wanted.value_or(std::max(sent_, oldest - 1));
  if (after > last_ || after + 1 < oldest) return Attach::gone;
  if (outbox_) outbox_->close();
  outbox_ = std::move(outbox);
  if (prime) outbox_->push(frame({0, {}}));
  for (const auto& event : events_) {
    if (event.number > after) outbox_->push(frame(event));
  }
  sent_ = last_;
  if (finished_) {
    outbox_->close();
    outbox_.reset();
  }
  return Attach::attached;
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

}  // namespace proteus::server
