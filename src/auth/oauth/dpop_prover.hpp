#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/tokens/private_key.hpp"
#include "base/clock.hpp"
#include "net/http/url.hpp"

namespace proteus::auth::oauth {

// Makes proofs of possession (RFC 9449), and remembers the nonces that servers want in them. Belongs to one thread.
class DpopProver {
 public:
  static constexpr std::size_t kMaxOrigins = 16;
  static constexpr std::size_t kMaxNonce = 1024;

  explicit DpopProver(PrivateKey key = PrivateKey::make()) : key_(std::move(key)) {}

  const PrivateKey& key() const { return key_; }
  // For one request, and with the token that it carries: none at a token endpoint.
  std::string proof(std::string_view method, const net::Url& url, Clock::Wall now, std::string_view token = {}) const;
  // Remembers what a server answered with, for its origin. True where it is another than before.
  bool take_nonce(const net::Url& url, std::string_view nonce);

 private:
  PrivateKey key_;
  std::vector<std::pair<std::string, std::string>> nonces_;  // by origin; the newest last
};

}  // namespace proteus::auth::oauth
