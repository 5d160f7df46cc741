#pragma once

#include <cstdint>
#include <functional>

#include <proteus/error.hpp>

#include "store/sql/connection.hpp"

namespace proteus::store::sql {

// Work for a thread that has a connection.
struct Operation {
  // Whether it may be done; changes nothing. Empty where there is no condition.
  std::function<Result<>(Connection&)> check;
  // Reads or changes the database. Called again where a transaction could not be committed, or a connection broke.
  std::function<Result<>(Connection&)> apply;
  // Called once, on that thread: with success only after the commit.
  std::function<void(Result<>)> done;
  // Whether others who share the database shall hear of it.
  bool is_announced = false;
};

}  // namespace proteus::store::sql
