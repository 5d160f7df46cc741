#pragma once

#include <filesystem>
#include <string>

#include <proteus/error.hpp>

#include "store/data_directory.hpp"

namespace proteus::store {

// The master secret that keys are derived from (base/sealing.hpp).
class Pepper {
 public:
  // One that somebody chose, such as the value of PROTEUS_PEPPER.
  static Result<Pepper> given(std::string value);
  // The one in a data directory, also while a process holds that. Its file must be the owner's alone; an error of kind
  // `not_found` where there is none.
  static Result<Pepper> read(const std::filesystem::path& directory);
  // The same, or a new one, on disk when this returns.
  static Result<Pepper> read_or_create(const DataDirectory& directory);

  const std::string& value() const { return value_; }

 private:
  explicit Pepper(std::string value) : value_(std::move(value)) {}

  std::string value_;
};

}  // namespace proteus::store
