#include "net/http_server/trusted_proxies.hpp"

#include <algorithm>

#include "net/http/field_text.hpp"

namespace proteus::net {
namespace {

constexpr std::size_t kMostProxies = 16;
constexpr std::size_t kLongestList = 4096;
constexpr std::string_view kStandard = "Forwarded";
constexpr std::string_view kCommon = "X-Forwarded-For";

// Removes the last element of a comma-separated list, and returns it.
std::string_view take_last(std::string_view& list) {
  const std::size_t comma = list.rfind(',');
  const std::string_view last = comma == std::string_view::npos ? list : list.substr(comma + 1);
  list = comma == std::string_view::npos ? std::string_view() : list.substr(0, comma);
  return trim_blanks(last);
}

// Returns the node of an element: "192.0.2.1:4711", with its quotes, of for="192.0.2.1:4711";proto=https.
std::string_view forwarded_for(std::string_view element) {
  while (!element.empty()) {
    const std::size_t end = element.find(';');
    const std::string_view pair = trim_blanks(element.substr(0, end));
    element = end == std::string_view::npos ? std::string_view() : element.substr(end + 1);
    if (pair.size() > 4 && same_field_name(pair.substr(0, 4), "for=")) return pair.substr(4);
  }
  return {};
}

// Returns 192.0.2.1 for "192.0.2.1:4711", and 2001:db8::1 for "[2001:db8::1]:4711".
std::string_view without_port(std::string_view node) {
  if (node.size() >= 2 && node.front() == '"' && node.back() == '"') node = node.substr(1, node.size() - 2);
  if (node.starts_with('[')) return node.substr(1, node.find(']') - 1);
  const std::size_t colon = node.find(':');
  return colon == node.rfind(':') ? node.substr(0, colon) : node;
}

bool is_address(std::string_view text) { return !text.contains('/') && Network::parse(text).has_value(); }

}  // namespace

TrustedProxies::TrustedProxies(const std::vector<std::string>& networks) {
  for (const auto& text : networks) {
    if (auto network = Network::parse(text)) networks_.push_back(std::move(*network));
  }
}

bool TrustedProxies::trusts(std::string_view address) const {
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(std::string(address), error);
  return !error && std::ranges::any_of(networks_, [&](const Network& network) { return network.contains(parsed); });
}

std::string TrustedProxies::client_of(std::string_view peer, const Fields& fields) const {
  const bool is_standard = fields.find(kStandard).has_value();
  const bool is_common = fields.find(kCommon).has_value();
  std::string client = follow(peer, fields, is_standard ? kStandard : kCommon);
  // A proxy that sets one of the fields may pass on the client's word in the other.
  if (is_standard && is_common && follow(peer, fields, kCommon) != client) return std::string(peer);
  return client;
}

std::string TrustedProxies::follow(std::string_view peer, const Fields& fields, std::string_view name) const {
  std::string all;  // RFC 9110, 5.3: several lines are one list
  for (const Field& field : fields) {
    if (same_field_name(field.name, name)) all.append(all.empty() ? "" : ",").append(field.value);
  }
  std::string_view client = peer;
  std::string_view list = all.size() > kLongestList ? std::string_view() : all;
  for (std::size_t i = 0; i < kMostProxies && !list.empty() && trusts(client); ++i) {
    const std::string_view element = take_last(list);
    const std::string_view next = without_port(name == kStandard ? forwarded_for(element) : element);
    if (!is_address(next)) break;
    client = next;
  }
  return std::string(client);
}

}  // namespace proteus::net
