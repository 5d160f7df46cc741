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

Error store_away(std::string_view where, std::string_view cause) {
  return {ErrorKind::exhausted, fmt::format("{} cannot be reached ({})", where, cause)};
}
Error store_unsure(std::string_view where) {
  return {ErrorKind::interrupted,
          fmt::format("the connection to {} broke at the commit; the change may have been stored", where)};
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

Error contracted_database(std::string_view where, std::int64_t found, std::int64_t known, std::string_view oldest) {
  return {ErrorKind::unsupported,
          fmt::format("{} has schema {}, this program knows {}; it can be used from version {} on", where, found, known,
                      oldest)};
}

Error version_conflict(const RecordKey& key, std::uint64_t expected, std::uint64_t found) {
  const std::string what =
      fmt::format("{} {}{}{}", to_string(key.kind), key.name, key.part.empty() ? "" : " ", key.part);
  if (expected == 0) return {ErrorKind::conflict, fmt::format("{} exists already", what)};
  if (found == 0) return {ErrorKind::conflict, fmt::format("{} was removed by somebody else", what)};
  return {ErrorKind::conflict,
          fmt::format("{} was changed by somebody else: it has version {}, not {}", what, found, expected)};
}
Error lease_lost(const Fence& fence) {
  return {ErrorKind::conflict, fmt::format("{} is another process's now", fence.lease)};
}
Error token_taken() { return {ErrorKind::conflict, "the token belongs to somebody already"}; }

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
