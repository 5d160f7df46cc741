#include "auth/oauth/dpop_prover.hpp"

#include <algorithm>

#include "base/secrets/sealing.hpp"
#include "base/text/base64.hpp"
#include "json/canonical.hpp"

namespace proteus::auth::oauth {

std::string DpopProver::proof(std::string_view method, const net::Url& url, Clock::Wall now,
                              std::string_view token) const {
  const std::string_view target = url.target();
  boost::json::object claims = {
      {"jti", base64_encode(random_bytes(16), Base64::url)},
      {"htm", method},
      {"htu", std::string(url.origin()) + std::string(target.substr(0, target.find('?')))},
      {"iat", std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count()}};
  if (!token.empty()) claims["ath"] = json::base64url(json::sha256(token));
  const auto nonce = std::ranges::find(nonces_, url.origin(), [](const auto& pair) { return pair.first; });
  if (nonce != nonces_.end()) claims["nonce"] = nonce->second;
  return key_.sign_token({{"typ", "dpop+jwt"}, {"jwk", key_.jwk()}}, claims);
}

bool DpopProver::take_nonce(const net::Url& url, std::string_view nonce) {
  const auto is_plain = [](char c) { return c > 0x20 && c < 0x7f && c != '"' && c != '\\'; };
  if (nonce.empty() || nonce.size() > kMaxNonce || !std::ranges::all_of(nonce, is_plain)) return false;
  const auto known = std::ranges::find(nonces_, url.origin(), [](const auto& pair) { return pair.first; });
  if (known != nonces_.end()) {
    if (known->second == nonce) return false;
    nonces_.erase(known);
  } else if (nonces_.size() == kMaxOrigins) {
    nonces_.erase(nonces_.begin());
  }
  nonces_.emplace_back(url.origin(), nonce);
  return true;
}

}  // namespace proteus::auth::oauth
