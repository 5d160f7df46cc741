#pragma once

#include <chrono>
#include <cstddef>

#include "base/secrets/secret.hpp"
#include "base/tasks/batch_thread.hpp"
#include "store/records.hpp"

namespace proteus::store {

struct PostgresOptions {
  // postgresql://…, with every parameter that libpq knows, such as sslmode and sslrootcert.
  Secret url{};
  Retention retention{.feed = 100'000};
  BacklogLimits backlog{};
  std::size_t readers = 2;
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds statement_timeout{30'000};
  // How long a write waits for its turn while other processes write.
  std::chrono::milliseconds turn_timeout{10'000};
  // How long a process may stall in the middle of a write before the server ends its session, and so its turn.
  std::chrono::milliseconds idle_timeout{2'000};
  // How long to try to find out whether a commit happened whose answer was lost.
  std::chrono::milliseconds resolve_timeout{10'000};
  // How often to poll for changes whose notification was lost.
  std::chrono::milliseconds look_interval{1'000};
};

}  // namespace proteus::store
