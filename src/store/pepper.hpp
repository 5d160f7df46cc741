#pragma once

#include <filesystem>
#include <string>

#include <proteus/error.hpp>

#include "store/data_directory.hpp"

namespace proteus::store {

// The master secret from which keys are derived (base/secrets/sealing.hpp).
class Pepper {
 public:
  // Takes a chosen secret, such as the value of PROTEUS_PEPPER.
  static Result<Pepper> given(std::string value);
  // Reads the pepper of a data directory, even while a process holds the directory. Rejects a file that is open to
  // other users. The error is of kind `not_found` if there is no file.
  static Result<Pepper> read(const std::filesystem::path& directory);
  // Like `read`, but creates a random pepper if there is none; it is on disk when this returns.
  static Result<Pepper> read_or_create(const DataDirectory& directory);

  const std::string& value() const { return value_; }

 private:
  explicit Pepper(std::string value) : value_(std::move(value)) {}

  std::string value_;
};

}  // namespace proteus::store
