#include "store/data_directory.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/errors.hpp"
#include "store/private_file.hpp"

namespace proteus::store {
namespace {

Result<> create(const std::filesystem::path& path) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) return std::unexpected(errors::directory_refused(path, error.message()));
  const bool created = ::mkdir(path.c_str(), S_IRWXU) == 0;
  if (!created && errno != EEXIST) return std::unexpected(errors::directory_refused(path, system_message(errno)));
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return std::unexpected(errors::directory_refused(path, system_message(errno)));
  if (!S_ISDIR(facts.st_mode)) return std::unexpected(errors::directory_refused(path, "it is not a directory"));
  if ((facts.st_mode & S_IWOTH) != 0) {
    return std::unexpected(errors::directory_refused(path, "every user may write to it; give it mode 0700"));
  }
  return {};
}

// Returns the process that wrote its id into the lock file; nothing if it has not done so yet.
std::optional<pid_t> holder(int fd) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
  pid_t pid = 0;
  if (size <= 0 || std::from_chars(text.data(), text.data() + size, pid).ec != std::errc()) return std::nullopt;
  return pid;
}

bool write_holder(int fd) {
  const std::string text = std::to_string(::getpid()) + "\n";
  return ::ftruncate(fd, 0) == 0 && ::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

}  // namespace

Result<DataDirectory> DataDirectory::open(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(path, error).lexically_normal();
  if (path.empty() || error) return std::unexpected(errors::directory_refused(path, "its path is not usable"));
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  if (auto created = create(absolute); !created) return std::unexpected(std::move(created.error()));

  auto lock = open_private(absolute / "lock");
  if (!lock) return std::unexpected(errors::directory_refused(absolute, lock.error().message()));
  if (::flock(lock->get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::unexpected(errors::directory_in_use(absolute, holder(lock->get())));
    return std::unexpected(errors::directory_refused(absolute, system_message(errno)));
  }
  // If the disk is full, the process id is missing, but the lock holds.
  static_cast<void>(write_holder(lock->get()));
  return DataDirectory(std::move(absolute), std::move(*lock));
}

}  // namespace proteus::store
