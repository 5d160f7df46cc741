#include "client/event_stream.hpp"

namespace proteus::client {

Result<std::optional<net::SseEvent>> EventStream::try_next() {
  for (;;) {
    auto event = reader_.next();
    if (!event || *event || ended_) return event;
    const auto bytes = response_.try_read_some();
    if (!bytes) return std::unexpected(bytes.error());
    if (!*bytes) return std::nullopt;
    ended_ = (*bytes)->empty();
    reader_.feed(**bytes);
  }
}

Task<Result<std::optional<net::SseEvent>>> EventStream::next() {
  for (;;) {
    auto event = reader_.next();
    if (!event || *event || ended_) co_return event;
    const auto bytes = co_await response_.read_some();
    if (!bytes) co_return std::unexpected(bytes.error());
    ended_ = bytes->empty();
    reader_.feed(*bytes);
  }
}

}  // namespace proteus::client
