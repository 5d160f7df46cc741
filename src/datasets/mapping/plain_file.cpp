#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.hpp"
#include "datasets/mapping/mapping_directory.hpp"
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
  if (!S_ISREG(facts.st_mode)) return refused(file, "is not a regular file");
  if (static_cast<std::size_t>(facts.st_size) > limit) return std::unexpected(errors::too_large(file.string(), limit));
  return store::read_all(fd, file, limit);
}

Result<> write_plain_file(const std::filesystem::path& file, std::string_view content) {
  using std::filesystem::perms;
  return store::write_file(file, content,
                           perms::owner_read | perms::owner_write | perms::group_read | perms::others_read);
}

}  // namespace proteus::datasets
