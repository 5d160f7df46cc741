#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.hpp"
#include "datasets/mapping_directory.hpp"
#include "store/private_file.hpp"

namespace proteus::datasets {
namespace {

std::unexpected<Error> failed(std::string_view doing, const std::filesystem::path& file) {
  return std::unexpected(
      errors::internal(fmt::format("{} {}: {}", doing, file.string(), store::system_message(errno))));
}

std::unexpected<Error> refused(const std::filesystem::path& file, std::string_view why) {
  return std::unexpected(errors::invalid(fmt::format("{} {}", file.string(), why)));
}

}  // namespace

Result<std::string> read_plain_file(const std::filesystem::path& file, std::size_t limit) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) {
    if (errno == ENOENT) return std::unexpected(errors::not_found(file.string() + " does not exist"));
    if (errno == ELOOP) return refused(file, "is a link; put the file itself there");
    return failed("opening", file);
  }
  struct stat facts{};
  if (::fstat(fd.get(), &facts) != 0) return failed("reading", file);
  if (!S_ISREG(facts.st_mode)) return refused(file, "is no regular file");
  if (static_cast<std::size_t>(facts.st_size) > limit) return std::unexpected(errors::too_large(file.string(), limit));
  std::string content(limit + 1, '\0');
  std::size_t size = 0;
  while (size < content.size()) {
    const ssize_t got = ::read(fd.get(), content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("reading", file);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > limit) return std::unexpected(errors::too_large(file.string(), limit));
  content.resize(size);
  return content;
}

Result<> write_plain_file(const std::filesystem::path& file, std::string_view content) {
  const std::filesystem::path draft = file.string() + ".new";
  ::unlink(draft.c_str());
  const UniqueFd fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd) return failed("creating", draft);
  while (!content.empty()) {
    const ssize_t put = ::write(fd.get(), content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed("writing", draft);
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fsync(fd.get()) != 0) return failed("writing", draft);
  if (::rename(draft.c_str(), file.c_str()) != 0) return failed("creating", file);
  return store::sync_directory(file.parent_path());
}

}  // namespace proteus::datasets
