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

// Where upstreams may be. Those of the configuration file may be anywhere, because whoever writes it decides that;
// others obey the rules, at their registration and again for each connection, after their host was resolved.
// Thread-safe. Made before the gateway, whose HTTP clients take its filter, and outlives it.
class Egress {
 public:
  explicit Egress(const net::EgressSettings& settings);

  void set_rules(const net::EgressSettings& settings);
  // The origins of all URLs in the configuration file: trust in a host is not trust in its other ports.
  using Origins = std::set<std::string, std::less<>>;
  void trust(Origins origins);

  // A URL that came over the API.
  Result<> check(const net::Url& url) const;
  net::AddressFilter filter() const;
  // The same for whom the trust in the file is not meant: the tools of sessions.
  Result<> check_strictly(const net::Url& url) const;
  net::AddressFilter strict_filter() const;
  // Changes with what the filters say: a connection that was opened before may not be allowed any more.
  const std::atomic<std::uint64_t>& version() const { return version_; }

 private:
  Result<> check(const net::Url& url, const boost::asio::ip::address& address) const;

  Published<net::EgressRules> rules_;
  Published<Origins> trusted_;
  std::atomic<std::uint64_t> version_ = 1;
};

}  // namespace proteus::gateway
