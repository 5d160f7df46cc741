#include "gateway/retries.hpp"

namespace proteus::gateway {
namespace {

constexpr unsigned kTries = 3;
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{400};
constexpr std::chrono::seconds kLongest{1};

}  // namespace

std::optional<std::chrono::milliseconds> Retries::next(const Error& error) {
  const bool harmless = method_ != mcp::Method::tools_call && error.kind() == ErrorKind::interrupted;
  if (!harmless && error.kind() != ErrorKind::unreachable) return std::nullopt;
  if (++failures_ == kTries || clock_.now() - began_ > kLongest) return std::nullopt;
  return client::backoff(failures_, kFirstPause, kLongestPause, chance_);
}

}  // namespace proteus::gateway
