#include "store/private_file.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace proteus::store {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

std::unexpected<Error> failed(std::string_view doing, const std::filesystem::path& file) {
  return std::unexpected(
      proteus::errors::internal(fmt::format("{} {}: {}", doing, file.string(), system_message(errno))));
}

std::unexpected<Error> refused(const std::filesystem::path& file, std::string_view why) {
  return std::unexpected(proteus::errors::invalid(fmt::format("{} {}", file.string(), why)));
}

}  // namespace

std::string system_message(int error) { return std::generic_category().message(error); }

Result<UniqueFd> open_private(const std::filesystem::path& file) {
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly));
  if (!fd) return failed("opening", file);
  return fd;
}

Result<> create_private(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly));
  if (!fd && errno == EEXIST) return {};
  if (!fd) return failed("creating", file);
  return sync_directory(file.parent_path());
}

Result<std::string> read_private(const std::filesystem::path& file, std::size_t limit) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) {
    if (errno == ENOENT) return std::unexpected(proteus::errors::not_found(file.string() + " does not exist"));
    return failed("opening", file);
  }
  struct stat facts{};
  if (::fstat(fd.get(), &facts) != 0) return failed("reading", file);
  if (!S_ISREG(facts.st_mode)) return refused(file, "is not a regular file");
  if (facts.st_uid != ::geteuid()) return refused(file, "belongs to another user");
  if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) return refused(file, "is open to other users; give it mode 0600");
  return read_all(fd, file, limit);
}

Result<std::string> read_all(const UniqueFd& fd, const std::filesystem::path& file, std::size_t limit) {
  std::string content(limit + 1, '\0');
  std::size_t size = 0;
  while (size < content.size()) {
    const ssize_t got = ::read(fd.get(), content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("reading", file);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > limit) return std::unexpected(proteus::errors::too_large(file.string(), limit));
  content.resize(size);
  return content;
}

Result<> write_private(const std::filesystem::path& file, std::string_view content) {
  return write_file(file, content, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

Result<> write_file(const std::filesystem::path& file, std::string_view content, std::filesystem::perms permissions) {
  const std::filesystem::path draft = file.string() + ".new";
  ::unlink(draft.c_str());
  const UniqueFd fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, static_cast<mode_t>(permissions)));
  if (!fd) return failed("creating", draft);
  while (!content.empty()) {
    const ssize_t put = ::write(fd.get(), content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed("writing", draft);
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fsync(fd.get()) != 0) return failed("writing", draft);
  if (::rename(draft.c_str(), file.c_str()) != 0) return failed("creating", file);
  return sync_directory(file.parent_path());
}

Result<> sync_directory(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory.empty() ? std::filesystem::path(".") : directory;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return failed("writing", path);
  return {};
}

}  // namespace proteus::store
