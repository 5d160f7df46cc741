#pragma once

#include <chrono>
#include <memory>

#include <proteus/error.hpp>

#include "store/postgres/postgres_connection.hpp"

namespace proteus::store {

// A connection that is made again when it broke: at once, then after pauses that grow. One thread at a time. Whoever
// asks during a pause gets the error that began it, and does not wait.
class Reconnection {
 public:
  // The options outlive it.
  explicit Reconnection(const PostgresOptions& options) : options_(options) {}
  Reconnection(const PostgresOptions& options, std::unique_ptr<PostgresConnection> connection)
      : options_(options), connection_(std::move(connection)) {}

  Result<PostgresConnection*> get();
  // How long the pause lasts; zero where there is none.
  std::chrono::milliseconds pause() const;

  std::optional<Health::Trouble> take_trouble();

 private:
  using Clock = std::chrono::steady_clock;

  const PostgresOptions& options_;
  std::unique_ptr<PostgresConnection> connection_;
  std::chrono::milliseconds next_pause_{0};
  Clock::time_point not_before_{};
  std::optional<Error> fault_;
};

}  // namespace proteus::store
