#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/http/fields.hpp"
#include "net/io/network.hpp"

namespace proteus::net {

// Proxies whose word is taken for whom a request comes from: for logs, and for nothing that grants anything. Immutable.
class TrustedProxies {
 public:
  // Each a network or an address; others are left out.
  explicit TrustedProxies(const std::vector<std::string>& networks);

  bool empty() const { return networks_.empty(); }
  // The nearest address that is no such proxy, by `Forwarded` (RFC 7239) or else `X-Forwarded-For`; the peer's own
  // where that is none, or where the fields cannot be read. Looks at a few proxies at most.
  std::string client_of(std::string_view peer, const Fields& fields) const;

 private:
  bool trusts(std::string_view address) const;

  std::vector<Network> networks_;
};

}  // namespace proteus::net
