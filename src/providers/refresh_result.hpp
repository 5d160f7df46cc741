#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "catalog/pins/change.hpp"

namespace proteus::providers {

// How one reading of an upstream's lists went.
struct RefreshResult {
  catalog::UpstreamName upstream;
  Clock::Wall at{};
  std::chrono::milliseconds duration{0};
  std::optional<Error> error;
  catalog::Change change;
  // Of several processes, the one that watches the upstream logs what changed.
  bool is_logged_elsewhere = false;

  bool ok() const { return !error; }
};

// As the admin API answers, an object.
std::string write_refresh_result(const RefreshResult& result);

}  // namespace proteus::providers
