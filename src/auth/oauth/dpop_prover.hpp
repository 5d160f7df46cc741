#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/tokens/private_key.hpp"
#include "base/clock.hpp"
#include "net/http/url.hpp"

namespace proteus::auth::oauth {

// Makes proofs of possession (RFC 9449), and remembers the nonces that servers require. Belongs to one thread.
class DpopProver {
 public:
  static constexpr std::size_t kMaxOrigins = 16;
  static constexpr std::size_t kMaxNonce = 1024;

  explicit DpopProver(PrivateKey key = PrivateKey::make()) : key_(std::move(key)) {}

  const PrivateKey& key() const { return key_; }
  // Returns a proof for one request. `token` is the token that the request carries; empty at a token endpoint.
  std::string proof(std::string_view method, const net::Url& url, Clock::Wall now, std::string_view token = {}) const;
  // Remembers the nonce of an answer, for the origin of `url`. Returns true if the nonce is new there.
  bool take_nonce(const net::Url& url, std::string_view nonce);

 private:
  PrivateKey key_;
  std::vector<std::pair<std::string, std::string>> nonces_;  // by origin; the newest last
};

}  // namespace proteus::auth::oauth
