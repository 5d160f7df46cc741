#include "mcp/over_limit.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace proteus::mcp {

std::chrono::seconds retry_after(const Error& error) {
  return error.kind() == ErrorKind::exhausted ? error.retry_after() : std::chrono::seconds(0);
}

}  // namespace proteus::mcp

namespace proteus::mcp::errors {

Error over_limit(std::string message, std::chrono::seconds retry_after) {
  const auto seconds = std::max(retry_after, std::chrono::seconds(1));
  return Error(ErrorKind::exhausted, std::move(message))
      .with_retry_after(seconds)
      .with_data(fmt::format(R"({{"retryAfter":{}}})", seconds.count()));
}

}  // namespace proteus::mcp::errors
