#include "base/secrets/secret.hpp"

#include <algorithm>
#include <array>

#include <openssl/crypto.h>

namespace proteus {

void Secret::wipe() noexcept {
  text_.resize(text_.capacity());  // allocates nothing
  OPENSSL_cleanse(text_.data(), text_.size());
  text_.clear();
}

bool is_secret_header(std::string_view name) {
  // Names are also written in one word: `X-Apikey`, `X-Accesstoken`.
  static constexpr std::array<std::string_view, 8> kWithin = {"authoriz", "authen", "secret",     "password",
                                                              "passwd",   "cookie", "credential", "apikey"};
  static constexpr std::array<std::string_view, 2> kEnds = {"token", "key"};
  static constexpr std::array<std::string_view, 5> kWords = {"auth", "bearer", "jwt", "session", "signature"};
  static constexpr std::array<std::string_view, 2> kPublic = {"idempotency-key", "x-idempotency-key"};
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  const auto is_part = [&](std::string_view part) { return lower.contains(part); };
  if (std::ranges::find(kPublic, lower) != kPublic.end()) return false;
  if (std::ranges::any_of(kWithin, is_part)) return true;
  for (std::string_view rest = lower; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find_first_of("-_."));
    const auto is_end = [&](std::string_view end) { return word.ends_with(end); };
    if (std::ranges::find(kWords, word) != kWords.end() || std::ranges::any_of(kEnds, is_end)) return true;
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return false;
}

}  // namespace proteus
