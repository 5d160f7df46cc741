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

// The store met `fault` at `where`, a file or a server. `cause` is the message of the system or the database. The
// error's message tells an operator what to do.
Error store_fault(Fault fault, std::string_view where, std::string_view cause);
// The server of the store cannot be reached at the moment.
Error store_away(std::string_view where, std::string_view cause);
// The outcome of a commit is unknown: the write may have been stored.
Error store_unsure(std::string_view where);
Error store_overloaded();
Error store_closed();
Error foreign_database(std::string_view path);
Error newer_database(std::string_view path, std::int64_t found, std::int64_t known);
// `oldest` is the oldest version of this program that can use the database.
Error contracted_database(std::string_view where, std::int64_t found, std::int64_t known, std::string_view oldest);

// The record has version `found` instead of `expected`; 0 means that there is no record.
Error version_conflict(const RecordKey& key, std::uint64_t expected, std::uint64_t found);
Error lease_lost(const Fence& fence);
Error token_taken();

Error directory_in_use(const std::filesystem::path& directory, std::optional<pid_t> by);
Error directory_refused(const std::filesystem::path& directory, std::string_view why);

Error pepper_refused(std::string_view where, std::string_view why);
Error pepper_missing(const std::filesystem::path& file);
// The text was sealed with neither the current nor the previous pepper.
Error unknown_pepper(std::string_view what);
// The sealed text is damaged, or belongs to another record.
Error damaged_seal(std::string_view what);

}  // namespace proteus::store::errors
