#include "live/live_keys.hpp"

#include <fmt/format.h>

#include "base/text/base64.hpp"

namespace proteus::live {

LiveKeys::LiveKeys(std::string_view pepper)
    : naming_(derive_bytes(pepper, "names in Redis", 32)), sealing_(SealingKey::derive(pepper, "live in Redis")) {}

std::string LiveKeys::name_of(std::string_view session) const {
  return base64_encode(derive_bytes(naming_, session, 18), Base64::url);
}

std::string LiveKeys::events(std::string_view session, std::uint64_t stream) const {
  return fmt::format("proteus:1:events:{}:{:x}", name_of(session), stream);
}

std::string LiveKeys::session(std::string_view session) const {
  return fmt::format("proteus:1:session:{}", name_of(session));
}

std::string LiveKeys::process(const ProcessKey& process) {
  return fmt::format("proteus:1:process:{}", to_text(process));
}

std::string LiveKeys::seal(std::string_view plain, std::string_view key, std::string_view field) const {
  return sealing_.seal(plain, fmt::format("{} {}", key, field));
}

std::optional<std::string> LiveKeys::open(std::string_view sealed, std::string_view key, std::string_view field) const {
  return sealing_.open(sealed, fmt::format("{} {}", key, field));
}

}  // namespace proteus::live
