#include "net/http_server/trusted_proxies.hpp"

#include <algorithm>

namespace proteus::net {
namespace {

constexpr std::size_t kMostProxies = 16;
constexpr std::size_t kLongestField = 4096;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

// What stands behind the last comma, which is taken away.
std::string_view take_last(std::string_view& list) {
  const std::size_t comma = list.rfind(',');
  const std::string_view last = comma == std::string_view::npos ? list : list.substr(comma + 1);
  list = comma == std::string_view::npos ? std::string_view() : list.substr(0, comma);
  return trimmed(last);
}

// "192.0.2.1" of for="192.0.2.1:4711";proto=https, and the same of [2001:db8::1]:4711.
std::string_view forwarded_for(std::string_view element) {
  while (!element.empty()) {
    const std::size_t end = element.find(';');
    const std::string_view pair = trimmed(element.substr(0, end));
    element = end == std::string_view::npos ? std::string_view() : element.substr(end + 1);
    if (pair.size() > 4 && same_field_name(pair.substr(0, 4), "for=")) return pair.substr(4);
  }
  return {};
}

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
  const bool is_standard = fields.find("Forwarded").has_value();
  const std::string_view name = is_standard ? "Forwarded" : "X-Forwarded-For";
  std::string_view client = peer;
  // Several fields are one list in their order; who sends more than one is not followed.
  if (fields.count(name) != 1) return std::string(client);
  std::string_view list = *fields.find(name);
  if (list.size() > kLongestField) return std::string(client);
  for (std::size_t i = 0; i < kMostProxies && !list.empty() && trusts(client); ++i) {
    const std::string_view element = take_last(list);
    const std::string_view next = without_port(is_standard ? forwarded_for(element) : element);
    if (!is_address(next)) break;
    client = next;
  }
  return std::string(client);
}

}  // namespace proteus::net
