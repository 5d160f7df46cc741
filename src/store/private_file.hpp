#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/unique_fd.hpp"

// Files that only their owner may read.
namespace proteus::store {

// What the system says about `errno`.
std::string system_message(int error);

// Opens for reading and writing, and creates with mode 0600 what is not there. Refuses a symbolic link.
Result<UniqueFd> open_private(const std::filesystem::path& file);

// Creates an empty file with mode 0600, unless there is one. That one is not opened: closing it would end the locks
// that SQLite holds on it.
Result<> create_private(const std::filesystem::path& file);

// The whole file, at most `limit` bytes of it. Refuses what is no regular file, what belongs to another user, and what
// group or others may open. An error of kind `not_found` where there is none.
Result<std::string> read_private(const std::filesystem::path& file, std::size_t limit);

// Puts a file in place, whole and on disk. One writer at a time.
Result<> write_private(const std::filesystem::path& file, std::string_view content);

// The same for a file with these permissions.
Result<> write_file(const std::filesystem::path& file, std::string_view content, std::filesystem::perms permissions);
// All of an open file, at most `limit` bytes of it; `file` is its name.
Result<std::string> read_all(const UniqueFd& fd, const std::filesystem::path& file, std::size_t limit);

// Makes what was created or renamed in a directory survive a crash of the machine.
Result<> sync_directory(const std::filesystem::path& directory);

}  // namespace proteus::store
