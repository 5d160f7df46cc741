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
  bool allow_private = false;           // private networks, and loopback
  bool allow_loopback = false;          // loopback alone
  std::vector<std::string> allow = {};  // networks, addresses and host names that are allowed regardless
};

// Which addresses may be asked on somebody else's word. What leads into the machine or its network is refused unless
// the settings allow it; what leads to a cloud's metadata, to a link's neighbours or to nobody is refused unless it is
// named. An IPv6 address that holds an IPv4 one is refused where that is. Immutable.
class EgressRules {
 public:
  // Entries that are neither a network nor an address are host names.
  explicit EgressRules(const EgressSettings& settings);

  // An address that the host of a URL was resolved to. As an AddressFilter.
  Result<> check(const Url& url, const boost::asio::ip::address& address) const;
  // As far as it can be told without resolving a name: a host that is an address, or localhost.
  Result<> check(const Url& url) const;

 private:
  bool names(std::string_view host) const;
  Result<> check_one(std::string_view host, const boost::asio::ip::address& address) const;

  const bool allow_private_;
  const bool allow_loopback_;
  std::vector<Network> networks_;
  std::vector<std::string> hosts_;  // in lower case
};

}  // namespace proteus::net
