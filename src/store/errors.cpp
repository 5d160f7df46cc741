#include "store/errors.hpp"

#include <fmt/format.h>

namespace proteus::store::errors {

Error store_fault(Fault fault, std::string_view where, std::string_view cause) {
  switch (fault) {
    case Fault::full: return {ErrorKind::exhausted, fmt::format("the disk is full: {} cannot grow ({})", where, cause)};
    case Fault::busy: return {ErrorKind::exhausted, fmt::format("{} is locked by another program ({})", where, cause)};
    case Fault::corrupt:
      return {ErrorKind::internal, fmt::format("{} is damaged; restore it from a copy ({})", where, cause)};
    case Fault::read_only:
      return {ErrorKind::internal, fmt::format("{} cannot be written: it is read-only ({})", where, cause)};
    case Fault::unavailable: break;
  }
  return {ErrorKind::internal, fmt::format("{} cannot be used ({})", where, cause)};
}

Error store_overloaded() { return {ErrorKind::exhausted, "too much waits to be stored; try again later"}; }
Error store_closed() { return {ErrorKind::cancelled, "the store is closed"}; }

Error foreign_database(std::string_view path) {
  return {ErrorKind::conflict, fmt::format("{} is a database of another program", path)};
}
Error newer_database(std::string_view path, std::int64_t found, std::int64_t known) {
  return {ErrorKind::unsupported,
          fmt::format("{} was written by a newer version: its schema is {}, this program knows up "
                      "to {}; use the newer version, or another data directory",
                      path, found, known)};
}

Error directory_in_use(const std::filesystem::path& directory, std::optional<pid_t> by) {
  const std::string holder = by ? fmt::format("process {}", *by) : "another process";
  return {ErrorKind::conflict, fmt::format("the data directory {} is in use by {}", directory.string(), holder)};
}
Error directory_refused(const std::filesystem::path& directory, std::string_view why) {
  return {ErrorKind::invalid, fmt::format("the data directory {} cannot be used: {}", directory.string(), why)};
}

Error pepper_refused(std::string_view where, std::string_view why) {
  return {ErrorKind::invalid, fmt::format("the pepper of {} is refused: {}", where, why)};
}
Error pepper_missing(const std::filesystem::path& file) {
  return {ErrorKind::not_found, fmt::format("there is no pepper in {}", file.string())};
}
Error unknown_pepper(std::string_view what) {
  return {ErrorKind::invalid,
          fmt::format("{} was sealed with another pepper; give that one, or give it as the previous "
                      "one (PROTEUS_PEPPER_PREVIOUS)",
                      what)};
}
Error damaged_seal(std::string_view what) {
  return {ErrorKind::internal, fmt::format("{} is damaged or belongs to another record", what)};
}

}  // namespace proteus::store::errors
