#pragma once

#include <cstdint>
#include <functional>

#include <proteus/error.hpp>

#include "store/sql/connection.hpp"

namespace proteus::store::sql {

// Work for a thread with a connection. `check` and `apply` are called again if a transaction could not be committed, or
// if a connection broke.
struct Operation {
  // Checks the conditions of the work; changes nothing. Empty if there are none.
  std::function<Result<>(Connection&)> check;
  // Reads or changes the database.
  std::function<Result<>(Connection&)> apply;
  // Called once, on that thread; with success only after the commit.
  std::function<void(Result<>)> done;
  // Whether to notify other processes that share the database.
  bool is_announced = false;
};

}  // namespace proteus::store::sql
