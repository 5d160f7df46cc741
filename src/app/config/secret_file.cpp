#include "app/config/secret_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace proteus::app {
namespace {

constexpr std::size_t kMaxSecret = 4096;

}  // namespace

Result<std::string> read_secret_file(const std::string& file) {
  // Reading a device or a pipe might never end.
  std::error_code status;
  if (std::filesystem::exists(file, status) && !std::filesystem::is_regular_file(file, status))
    return std::unexpected(errors::invalid("is no regular file"));
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::unexpected(errors::not_found(fmt::format("cannot be read: {}", std::strerror(errno))));
  std::string text(kMaxSecret + 2, '\0');  // plus a line end
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  // The secret is sent in an HTTP header.
  const bool fits = !text.empty() && text.size() <= kMaxSecret &&
                    std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
  if (fits) return text;
  return std::unexpected(errors::invalid(
      fmt::format("must hold one line of 1 to {} visible ASCII characters without spaces", kMaxSecret)));
}

}  // namespace proteus::app
