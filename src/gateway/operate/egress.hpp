#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>

#include <proteus/error.hpp>

#include "base/published.hpp"
#include "net/http_client/address_filter.hpp"
#include "net/http_client/egress_rules.hpp"

namespace proteus::gateway {

// Decides where upstreams and tools may be. Upstreams of the configuration file may be anywhere, because its author
// decides that. All others must obey the egress rules, at their registration and again for each connection, after their
// host was resolved. Thread-safe. Must be made before the gateway, whose HTTP clients use its filter, and must outlive
// it.
class Egress {
 public:
  explicit Egress(const net::EgressSettings& settings);

  void set_rules(const net::EgressSettings& settings);
  // Sets the trusted origins: those of all URLs in the configuration file. Trust in a host does not extend to its other
  // ports.
  using Origins = std::set<std::string, std::less<>>;
  void trust(Origins origins);

  // Checks a URL that came over the API. Trusted origins are always allowed.
  Result<> check(const net::Url& url) const;
  net::AddressFilter filter() const;
  // Like `check` and `filter`, but without the trusted origins: for the tools of sessions.
  Result<> check_strictly(const net::Url& url) const;
  net::AddressFilter strict_filter() const;
  // A number that changes whenever the filters may decide differently; connections that were opened before may no
  // longer be allowed.
  const std::atomic<std::uint64_t>& version() const { return version_; }

 private:
  Result<> check(const net::Url& url, const boost::asio::ip::address& address) const;

  Published<net::EgressRules> rules_;
  Published<Origins> trusted_;
  std::atomic<std::uint64_t> version_ = 1;
};

}  // namespace proteus::gateway
