#include "mcp/over_limit.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace proteus::mcp {
namespace {

constexpr std::string_view kData = R"({"retryAfter":)";

}  // namespace

// Only `over_limit` makes errors of this kind with data: what a peer answered with is of kind `remote`.
std::chrono::seconds retry_after(const Error& error) {
  if (error.kind() != ErrorKind::exhausted || !error.data().starts_with(kData)) return std::chrono::seconds(0);
  std::int64_t seconds = 0;
  std::from_chars(error.data().data() + kData.size(), error.data().data() + error.data().size(), seconds);
  return std::chrono::seconds(seconds);
}

}  // namespace proteus::mcp

namespace proteus::mcp::errors {

Error over_limit(std::string message, std::chrono::seconds retry_after) {
  const auto seconds = std::max(retry_after, std::chrono::seconds(1));
  return Error(ErrorKind::exhausted, std::move(message)).with_data(fmt::format("{}{}}}", kData, seconds.count()));
}

}  // namespace proteus::mcp::errors
