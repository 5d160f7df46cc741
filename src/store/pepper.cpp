#include "store/pepper.hpp"

#include "base/secrets/sealing.hpp"
#include "store/errors.hpp"
#include "store/private_file.hpp"

namespace proteus::store {
namespace {

constexpr std::size_t kMaxPepper = 4096;
constexpr std::string_view kFile = "pepper";

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

}  // namespace

Result<Pepper> Pepper::given(std::string value) {
  if (value.empty()) return std::unexpected(errors::pepper_refused("the environment", "it is empty"));
  if (value.size() > kMaxPepper) {
    return std::unexpected(errors::pepper_refused("the environment", "it is longer than 4096 bytes"));
  }
  return Pepper(std::move(value));
}

Result<Pepper> Pepper::read(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / kFile;
  auto content = read_private(file, kMaxPepper);
  if (!content) {
    if (content.error().kind() == ErrorKind::not_found) return std::unexpected(errors::pepper_missing(file));
    return std::unexpected(errors::pepper_refused(directory.string(), content.error().message()));
  }
  while (content->ends_with('\n') || content->ends_with('\r'))
    content->pop_back();
  if (content->empty()) return std::unexpected(errors::pepper_refused(file.string(), "the file is empty"));
  return Pepper(std::move(*content));
}

Result<Pepper> Pepper::read_or_create(const DataDirectory& directory) {
  auto existing = read(directory.path());
  if (existing || existing.error().kind() != ErrorKind::not_found) return existing;
  if (auto written = write_private(directory.file(kFile), hex(random_bytes(32)) + "\n"); !written) {
    return std::unexpected(errors::pepper_refused(directory.path().string(), written.error().message()));
  }
  return read(directory.path());
}

}  // namespace proteus::store
