#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/address.hpp>
#include <proteus/error.hpp>

#include "net/http/url.hpp"
#include "net/io/network.hpp"

namespace proteus::net {

struct EgressSettings {
  bool allow_private = false;           // private networks and loopback
  bool allow_loopback = false;          // loopback only
  std::vector<std::string> allow = {};  // networks, addresses and host names that are always allowed
};

// The rules for addresses that requests may go to if somebody else chose the URL. Loopback and private networks are
// rejected unless the settings allow them. Metadata services, link-local and unusable addresses are rejected unless
// `allow` names them. An IPv6 address that embeds an IPv4 address is rejected if that address is. Immutable.
class EgressRules {
 public:
  // Entries of `allow` that are neither a network nor an address are host names.
  explicit EgressRules(const EgressSettings& settings);

  // Checks an address that the host of a URL was resolved to. Usable as an AddressFilter.
  Result<> check(const Url& url, const boost::asio::ip::address& address) const;
  // Checks what is known without a lookup: a host that is an address, or localhost.
  Result<> check(const Url& url) const;

 private:
  bool names(std::string_view host) const;
  Result<> check_one(std::string_view host, const boost::asio::ip::address& address) const;

  const bool allow_private_;
  const bool allow_loopback_;
  std::vector<Network> networks_;
  std::vector<std::string> hosts_;  // compared without regard to case
};

}  // namespace proteus::net
