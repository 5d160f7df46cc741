#include "net/http_client/egress_rules.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "net/http/fields.hpp"
#include "net/http_client/connecting.hpp"

namespace proteus::net {

namespace {

namespace ip = boost::asio::ip;

struct Range {
  std::string_view network;
  std::string_view what;
};

bool is_in(const ip::address& address, std::span<const Range> ranges, std::string_view& what) {
  for (const auto& range : ranges) {
    if (!Network::parse(range.network)->contains(address)) continue;
    what = range.what;
    return true;
  }
  return false;
}

constexpr std::array kNever = {
    Range{"0.0.0.0/8", "no host"},
    Range{"169.254.0.0/16", "link-local"},
    Range{"100.100.100.200/32", "a metadata service"},
    Range{"168.63.129.16/32", "a metadata service"},
    Range{"192.0.0.0/24", "reserved"},
    Range{"224.0.0.0/4", "multicast"},
    Range{"240.0.0.0/4", "reserved"},
    Range{"::/128", "no host"},
    Range{"fe80::/10", "link-local"},
    Range{"fec0::/10", "link-local"},
    Range{"fd00:ec2::/32", "a metadata service"},
    Range{"ff00::/8", "multicast"},
    // These embed IPv4 addresses whose destination only the translator or tunnel knows (RFC 8215, RFC 4380).
    Range{"64:ff9b:1::/48", "translated for local use"},
    Range{"2001::/32", "a tunnel"},
};
constexpr std::array kLoopback = {Range{"127.0.0.0/8", "loopback"}, Range{"::1/128", "loopback"}};
constexpr std::array kPrivate = {
    Range{"10.0.0.0/8", "private"},    Range{"172.16.0.0/12", "private"}, Range{"192.168.0.0/16", "private"},
    Range{"100.64.0.0/10", "private"}, Range{"198.18.0.0/15", "private"}, Range{"fc00::/7", "private"},
};

// An IPv6 network whose addresses embed an IPv4 address, and the offset of that address.
struct Embedding {
  std::string_view network;
  std::size_t at;
};
constexpr std::array kEmbeddings = {
    Embedding{"::/96", 12},            // compatible (RFC 4291, section 2.5.5.1)
    Embedding{"::ffff:0:0/96", 12},    // mapped (RFC 4291, section 2.5.5.2)
    Embedding{"::ffff:0:0:0/96", 12},  // translated (RFC 2765, section 2.1)
    Embedding{"64:ff9b::/96", 12},     // translated (RFC 6052, section 2.1)
    Embedding{"2002::/16", 2},         // 6to4 (RFC 3056, section 2)
};

// Whether the address has an ISATAP interface identifier (RFC 5214, section 6.1), which may occur in any network.
bool is_isatap(const ip::address_v6::bytes_type& bytes) {
  return (bytes[8] & 0xFCU) == 0 && bytes[9] == 0 && bytes[10] == 0x5E && bytes[11] == 0xFE;
}

// Returns the address without its zone, and the IPv4 addresses that it embeds.
std::vector<ip::address> meanings_of(const ip::address& address) {
  if (address.is_v4()) return {address};
  const auto bytes = address.to_v6().to_bytes();
  const ip::address_v6 itself(bytes);
  std::vector<ip::address> meanings = {itself};
  if (itself.is_loopback() || itself.is_unspecified()) return meanings;
  const auto add_v4_at = [&](std::size_t at) {
    meanings.emplace_back(ip::address_v4({bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]}));
  };
  for (const auto& [text, at] : kEmbeddings) {
    if (Network::parse(text)->contains(itself)) add_v4_at(at);
  }
  if (is_isatap(bytes)) add_v4_at(12);
  return meanings;
}

}  // namespace

EgressRules::EgressRules(const EgressSettings& settings)
    : allow_private_(settings.allow_private), allow_loopback_(settings.allow_loopback || settings.allow_private) {
  for (const auto& entry : settings.allow) {
    if (auto network = Network::parse(entry)) {
      networks_.push_back(std::move(*network));
    } else {
      hosts_.push_back(entry);
    }
  }
}

bool EgressRules::names(std::string_view host) const {
  return std::ranges::any_of(hosts_, [&](const auto& allowed) { return same_field_name(allowed, host); });
}

Result<> EgressRules::check_one(std::string_view host, const ip::address& address) const {
  const auto is_allowed = [&](const Network& network) { return network.contains(address); };
  if (std::ranges::any_of(networks_, is_allowed)) return {};
  std::string_view what;
  const bool refused = is_in(address, kNever, what) || (!allow_loopback_ && is_in(address, kLoopback, what)) ||
                       (!allow_private_ && is_in(address, kPrivate, what));
  if (!refused) return {};
  const std::string text = address.to_string();
  const std::string where = host == text ? text : fmt::format("{} ({})", host, text);
  return std::unexpected(
      errors::forbidden(fmt::format("{} is {}, and neither [egress] nor PROTEUS_EGRESS_ALLOW allows it", where, what)));
}

Result<> EgressRules::check(const Url& url, const ip::address& given) const {
  if (names(url.host())) return {};
  for (const auto& address : meanings_of(given)) {
    if (auto checked = check_one(url.host(), address); !checked) return checked;
  }
  return {};
}

Result<> EgressRules::check(const Url& url) const {
  for (const auto& address : known_addresses(url.host())) {
    if (auto checked = check(url, address); !checked) return checked;
  }
  return {};
}

}  // namespace proteus::net
