#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/unique_fd.hpp"

// Files that only their owner may read.
namespace proteus::store {

// Returns the system's message for an `errno` value.
std::string system_message(int error);

// Opens a file for reading and writing; creates it with mode 0600 if it is missing. Rejects a symbolic link.
Result<UniqueFd> open_private(const std::filesystem::path& file);

// Creates an empty file with mode 0600 unless the file exists. Does not open an existing file: closing it would release
// the locks that SQLite holds on it.
Result<> create_private(const std::filesystem::path& file);

// Reads the whole file; fails if it is larger than `limit` bytes. Rejects what is not a regular file, what belongs to
// another user, and what group or others may access. The error is of kind `not_found` if there is no file.
Result<std::string> read_private(const std::filesystem::path& file, std::size_t limit);

// Replaces a file atomically; its content is on disk when this returns. Only one writer at a time.
Result<> write_private(const std::filesystem::path& file, std::string_view content);

// Like `write_private`, but with the given permissions.
Result<> write_file(const std::filesystem::path& file, std::string_view content, std::filesystem::perms permissions);
// Reads an open file to its end; fails if there are more than `limit` bytes. `file` is its name for error messages.
Result<std::string> read_all(const UniqueFd& fd, const std::filesystem::path& file, std::size_t limit);

// Makes the files that were created or renamed in a directory survive a crash of the machine.
Result<> sync_directory(const std::filesystem::path& directory);

}  // namespace proteus::store
