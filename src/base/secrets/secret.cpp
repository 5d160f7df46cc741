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
  // Each matches within a word as well, because names are also written in one: `X-Apikey`, `X-Accesstoken`.
  static constexpr std::array<std::string_view, 9> kWithin = {"authoriz", "authen", "token",      "secret", "password",
                                                              "passwd",   "cookie", "credential", "apikey"};
  static constexpr std::array<std::string_view, 4> kWords = {"auth", "key", "session", "signature"};
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  if (std::ranges::any_of(kWithin, [&](std::string_view part) { return lower.contains(part); })) return true;
  for (std::string_view rest = lower; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find_first_of("-_."));
    if (std::ranges::find(kWords, word) != kWords.end()) return true;
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return false;
}

}  // namespace proteus
