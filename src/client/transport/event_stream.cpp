#include "client/transport/event_stream.hpp"

#include <functional>

namespace proteus::client {

// Keeps an error, because later calls must return it, too.
Result<> EventStream::take(const Result<std::string_view>& bytes) {
  if (!bytes) {
    broken_ = bytes.error();
    return std::unexpected(*broken_);
  }
  ended_ = bytes->empty();
  if (!ended_) bytes_ = *bytes;
  reader_.feed(*bytes);
  return {};
}

Result<std::optional<net::SseEvent>> EventStream::try_next() {
  for (;;) {
    auto event = reader_.next();
    if (!event) return std::unexpected(naming_limit(std::move(event.error()), message_bytes_));
    if (*event || ended_) return event;
    if (broken_) return std::unexpected(*broken_);
    const auto bytes = response_.try_read_some();
    if (bytes && !*bytes) return std::nullopt;
    auto taken = take(bytes ? Result<std::string_view>(**bytes) : std::unexpected(bytes.error()));
    if (!taken) return std::unexpected(std::move(taken.error()));
  }
}

bool EventStream::keeps(std::string_view data) const {
  const std::less_equal<const char*> not_after;
  return whole_ && not_after(bytes_.data(), data.data()) &&
         not_after(data.data() + data.size(), bytes_.data() + bytes_.size());
}

Task<Result<std::optional<net::SseEvent>>> EventStream::next() {
  for (;;) {
    auto event = try_next();
    if (!event || *event || ended_) co_return event;
    if (auto taken = take(co_await response_.read_some()); !taken) co_return std::unexpected(std::move(taken.error()));
  }
}

}  // namespace proteus::client
