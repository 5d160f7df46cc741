#include "gateway/upstreams/upstream_attempts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/tasks/waiting.hpp"
#include "mcp/over_limit.hpp"

namespace proteus::gateway {
namespace {

constexpr unsigned kTries = 3;
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{400};
constexpr std::chrono::seconds kLongest{1};
constexpr std::chrono::seconds kTryLater{1};

bool is_transient(const Error& error, mcp::Method method) {
  if (error.kind() == ErrorKind::unreachable) return true;
  const bool acts =
      method == mcp::Method::tools_call || method == mcp::Method::tasks_cancel || method == mcp::Method::tasks_update;
  if (acts) return false;
  return error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::unavailable;
}

}  // namespace

Result<> UpstreamAttempts::begin() {
  place_ = upstream_.calls->enter();
  if (!place_) {
    return std::unexpected(mcp::errors::over_limit(
        fmt::format("upstream {} has reached its limit of concurrent requests", upstream_->settings().name),
        kTryLater));
  }
  if (attempt_.emplace(upstream_->breaker()).may_be_sent()) return {};
  cut_off_ = true;
  return std::unexpected(errors::unreachable(fmt::format(
      "upstream {} has failed repeatedly and is not asked for now; try again later", upstream_->settings().name)));
}

Task<bool> UpstreamAttempts::again(const Error& error) {
  const auto pause = pause_after(error);
  if (!pause) co_return false;
  co_await sleep_for(*pause);
  co_return true;
}

std::optional<std::chrono::milliseconds> UpstreamAttempts::pause_after(const Error& error) {
  if (!is_transient(error, method_) || ++failures_ == kTries) return std::nullopt;
  const auto pause = std::max<std::chrono::milliseconds>(
      client::backoff(failures_, kFirstPause, kLongestPause, chance_), error.retry_after());
  if (pause > kLongest || clock_.now() - began_ > kLongest) return std::nullopt;
  return pause;
}

}  // namespace proteus::gateway
