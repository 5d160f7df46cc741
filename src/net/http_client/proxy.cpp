#include "net/http_client/proxy.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "base/text/base64.hpp"
#include "net/http/fields.hpp"
#include "net/http_client/connecting.hpp"

namespace proteus::net {
namespace {

std::optional<Proxy> parse_proxy(std::string_view text) {
  std::string_view rest = text;
  std::string_view scheme = "http";
  if (const auto end = rest.find("://"); end != std::string_view::npos) {
    scheme = rest.substr(0, end);
    rest.remove_prefix(end + 3);
  }
  std::string authorization;
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    auto credentials = percent_decoded(authority.substr(0, at));
    if (!credentials) return std::nullopt;
    if (!credentials->contains(':')) *credentials += ':';
    authorization = "Basic " + base64_encode(*credentials);
    rest.remove_prefix(at + 1);
  }
  auto url = Url::parse(fmt::format("{}://{}", scheme, rest));
  if (!url) return std::nullopt;
  std::string key = fmt::format("via {}", url->origin());
  return Proxy{.url = std::move(*url), .authorization = std::move(authorization), .pool_key = std::move(key)};
}

bool is_address(std::string_view host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(std::string(host), error);
  return !error;
}

bool is_below(std::string_view host, std::string_view domain) {
  return host.size() > domain.size() && host[host.size() - domain.size() - 1] == '.' &&
         same_field_name(host.substr(host.size() - domain.size()), domain);
}

}  // namespace

bool is_loopback_host(std::string_view host) {
  const auto known = known_addresses(host);
  return !known.empty() && std::ranges::all_of(known, [](const auto& address) { return address.is_loopback(); });
}

Result<ProxySettings> ProxySettings::from_environment() {
  return from([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  });
}

Result<ProxySettings> ProxySettings::from(const std::function<std::optional<std::string>(const char*)>& variable) {
  const auto read = [&](std::initializer_list<const char*> names) -> Result<std::optional<Proxy>> {
    for (const char* name : names) {
      const auto value = variable(name);
      if (!value || value->empty()) continue;
      auto proxy = parse_proxy(*value);
      if (proxy) return proxy;
      return std::unexpected(
          errors::invalid(fmt::format("{} must be a URL like http://user:password@host:port", name)));
    }
    return std::nullopt;
  };
  ProxySettings settings;
  auto http = read({"http_proxy", "all_proxy", "ALL_PROXY"});
  if (!http) return std::unexpected(std::move(http).error());
  settings.http_ = std::move(*http);
  auto https = read({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
  if (!https) return std::unexpected(std::move(https).error());
  settings.https_ = std::move(*https);

  std::optional<std::string> exempt = variable("no_proxy");
  if (!exempt || exempt->empty()) exempt = variable("NO_PROXY");
  std::string_view rest = exempt ? std::string_view(*exempt) : std::string_view();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(", \t"), rest.size());
    std::string_view entry = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (entry == "*") settings.exempt_all_ = true;
    if (entry.starts_with('.')) entry.remove_prefix(1);
    std::optional<std::uint16_t> port;
    if (const auto colon = entry.rfind(':'); colon != std::string_view::npos && !is_address(entry)) {
      std::uint16_t number = 0;
      const auto digits = entry.substr(colon + 1);
      const auto [stop, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (fault == std::errc{} && stop == digits.data() + digits.size()) {
        port = number;
        entry = entry.substr(0, colon);
      }
    }
    if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
    if (!entry.empty()) settings.exceptions_.push_back({std::string(entry), Network::parse(entry), port});
  }
  return settings;
}

const Proxy* ProxySettings::find(const Url& url) const {
  const auto& proxy = url.is_https() ? https_ : http_;
  return proxy && !is_exempt(url) ? &*proxy : nullptr;
}

bool ProxySettings::is_exempt(const Url& url) const {
  if (exempt_all_ || is_loopback_host(url.host())) return true;
  boost::system::error_code is_name;
  const auto address = boost::asio::ip::make_address(std::string(url.host()), is_name);
  return std::ranges::any_of(exceptions_, [&](const Exception& exception) {
    if (exception.port && *exception.port != url.port()) return false;
    if (!is_name) return exception.network && exception.network->contains(address);
    return same_field_name(url.host(), exception.host) || is_below(url.host(), exception.host);
  });
}

}  // namespace proteus::net
