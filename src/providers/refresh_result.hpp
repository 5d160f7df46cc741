#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "catalog/pins/change.hpp"

namespace proteus::providers {

// The result of reading an upstream's lists once.
struct RefreshResult {
  catalog::UpstreamName upstream;
  Clock::Wall at{};
  std::chrono::milliseconds duration{0};
  std::optional<Error> error;
  catalog::Change change;
  // If several processes serve the upstream, the one that watches it logs what changed.
  bool is_logged_elsewhere = false;

  bool ok() const { return !error; }
};

// Writes the result as the JSON object that the admin API returns.
std::string write_refresh_result(const RefreshResult& result);

}  // namespace proteus::providers
