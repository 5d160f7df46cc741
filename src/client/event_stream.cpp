#include "client/event_stream.hpp"

namespace proteus::client {

Task<Result<std::optional<net::SseEvent>>> EventStream::next() {
  for (;;) {
    auto event = reader_.next();
    if (!event || *event) co_return event;
    const auto bytes = co_await response_.read_some();
    if (!bytes) co_return std::unexpected(bytes.error());
    if (bytes->empty()) co_return std::optional<net::SseEvent>();
    reader_.feed(*bytes);
  }
}

}  // namespace proteus::client
