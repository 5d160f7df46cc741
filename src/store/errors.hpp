#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>
#include <sys/types.h>

#include "store/store.hpp"

namespace proteus::store::errors {

// The store met `fault` at `where`, a file; `cause` is what the system or the database said. What an operator can do
// about it is in the message.
Error store_fault(Fault fault, std::string_view where, std::string_view cause);
Error store_overloaded();
Error store_closed();
Error foreign_database(std::string_view path);
Error newer_database(std::string_view path, std::int64_t found, std::int64_t known);

Error directory_in_use(const std::filesystem::path& directory, std::optional<pid_t> by);
Error directory_refused(const std::filesystem::path& directory, std::string_view why);

Error pepper_refused(std::string_view where, std::string_view why);
Error pepper_missing(const std::filesystem::path& file);
// What was sealed knows neither the current nor the previous pepper.
Error unknown_pepper(std::string_view what);
// It names one of them, but does not open.
Error damaged_seal(std::string_view what);

}  // namespace proteus::store::errors
