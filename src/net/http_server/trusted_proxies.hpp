#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/http/fields.hpp"
#include "net/io/network.hpp"

namespace proteus::net {

// Proxies that are trusted to state a client's address: for logs and limits, never to grant anything. Immutable.
class TrustedProxies {
 public:
  // Each entry is a network or an address; others are ignored.
  explicit TrustedProxies(const std::vector<std::string>& networks);

  bool empty() const { return networks_.empty(); }
  // Returns the nearest address that is not a trusted proxy: the peer's own, or one from `Forwarded` (RFC 7239) or else
  // `X-Forwarded-For`. Stops at an element that is not an address, and after a few proxies. Fields that contradict each
  // other are ignored.
  std::string client_of(std::string_view peer, const Fields& fields) const;

 private:
  bool trusts(std::string_view address) const;
  std::string follow(std::string_view peer, const Fields& fields, std::string_view name) const;

  std::vector<Network> networks_;
};

}  // namespace proteus::net
