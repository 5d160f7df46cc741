#pragma once

#include <chrono>
#include <memory>

#include <proteus/error.hpp>

#include "store/postgres/postgres_connection.hpp"

namespace proteus::store {

// A connection that is reopened after it broke: at once, then after growing pauses. During a pause, `get` does not
// wait, and returns the error that began the pause. For one thread at a time.
class Reconnection {
 public:
  // `options` must outlive this object.
  explicit Reconnection(const PostgresOptions& options) : options_(options) {}
  Reconnection(const PostgresOptions& options, std::unique_ptr<PostgresConnection> connection)
      : options_(options), connection_(std::move(connection)) {}

  Result<PostgresConnection*> get();
  // Returns how long the current pause still lasts; zero if there is none.
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
