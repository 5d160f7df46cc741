#include "server/host_rules.hpp"

#include <algorithm>

#include <boost/asio/ip/address.hpp>

#include "net/refused_request.hpp"

namespace proteus::server {
namespace {

std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  std::size_t colon = host.size();
  for (std::size_t at = 0; at < host.size(); ++at) {
    if (host[at] != ':') continue;
    if (colon != host.size()) return host;  // an IPv6 address without brackets, which has no port
    colon = at;
  }
  return host.substr(0, colon);
}

std::optional<boost::asio::ip::address> address_of(std::string_view name) {
  boost::system::error_code status;
  const auto address = boost::asio::ip::make_address(std::string(name), status);
  return status ? std::nullopt : std::optional(address);
}

bool same_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

bool is_loopback_name(std::string_view host) {
  const std::string_view name = without_port(host);
  if (name == "127.0.0.1" || same_ignoring_case(name, "localhost")) return true;
  const auto address = address_of(name);
  return address && address->is_loopback();
}

bool HostRules::allows_host(std::string_view host_header) const {
  const std::string_view name = without_port(host_header);
  if (std::ranges::any_of(allowed_hosts, [&](const auto& host) { return same_ignoring_case(host, name); })) return true;
  if (for_operators && name.empty()) return true;
  if (loopback) return is_loopback_name(host_header);
  return allowed_hosts.empty() || (for_operators && address_of(name));
}

bool HostRules::allows_origin(std::optional<std::string_view> origin) const {
  if (!origin) return true;
  if (std::ranges::any_of(allowed_origins, [&](const auto& allowed) {
        return allowed == "*" || same_ignoring_case(allowed, *origin);
      })) {
    return true;
  }
  const auto scheme = origin->find("://");
  return loopback && scheme != std::string_view::npos && is_loopback_name(origin->substr(scheme + 3));
}

Result<> HostRules::check(const net::Request& request, RefusalLog* refusals) const {
  const auto refuse = [&](RefusalReason reason, std::string_view name, const char* why) -> Result<> {
    if (refusals != nullptr) refusals->add(net::refused(request, reason, name));
    return std::unexpected(errors::forbidden(why));
  };
  const std::string_view host = request.fields().find("Host").value_or("");
  if (!allows_host(host)) {
    return refuse(RefusalReason::host, host, "This server is not known by the name in the Host header");
  }
  const auto origin = request.fields().find("Origin");
  if (!allows_origin(origin)) {
    return refuse(RefusalReason::origin, *origin, "Requests from this Origin are not allowed");
  }
  return {};
}

}  // namespace proteus::server
