#include "server/http/host_rules.hpp"

#include <algorithm>

#include <boost/asio/ip/address.hpp>

#include "base/text/ascii.hpp"
#include "net/http_server/refused_request.hpp"

namespace proteus::server {
namespace {

bool is_port(std::string_view text) {
  return text.empty() ||
         (text.front() == ':' && std::ranges::all_of(text.substr(1), [](char c) { return c >= '0' && c <= '9'; }));
}

// Returns the name in a Host header, without brackets and port. Returns nothing if anything else follows the name,
// which no browser sends.
std::optional<std::string_view> name_in(std::string_view host) {
  const bool bracketed = host.starts_with('[');
  const std::size_t end = std::min(host.find(bracketed ? ']' : ':'), host.size());
  const bool bare_ipv6 = !bracketed && end < host.size() && host.find(':', end + 1) != std::string_view::npos;
  if (bare_ipv6) return host;
  if (bracketed && end == host.size()) return std::nullopt;
  if (!is_port(host.substr(bracketed ? end + 1 : end))) return std::nullopt;
  return bracketed ? host.substr(1, end - 1) : host.substr(0, end);
}

std::optional<boost::asio::ip::address> address_of(std::string_view name) {
  boost::system::error_code status;
  const auto address = boost::asio::ip::make_address(std::string(name), status);
  return status ? std::nullopt : std::optional(address);
}

std::string own_origin(const net::Request& request, std::string_view host) {
  return (request.is_tls() ? "https://" : "http://") + std::string(host);
}

// `host` is allowed by the rules.
bool is_own_page(const HostRules& rules, const net::Request& request, std::string_view host, std::string_view origin) {
  if (!rules.own_pages || !same_ignoring_case(origin, own_origin(request, host))) return false;
  // With TLS another site lacks the certificate, and an address cannot be rebound.
  return request.is_tls() || rules.loopback || !rules.allowed_hosts.empty() || address_of(*name_in(host));
}

}  // namespace

bool is_loopback_name(std::string_view host) {
  const auto name = name_in(host);
  if (!name) return false;
  if (*name == "127.0.0.1" || same_ignoring_case(*name, "localhost")) return true;
  const auto address = address_of(*name);
  return address && address->is_loopback();
}

bool HostRules::allows_host(std::string_view host_header) const {
  const auto name = name_in(host_header);
  if (!name) return false;
  if (std::ranges::any_of(allowed_hosts, [&](const auto& host) { return same_ignoring_case(host, *name); }))
    return true;
  if (for_operators && name->empty()) return true;
  if (loopback) return is_loopback_name(host_header);
  return allowed_hosts.empty() || (for_operators && address_of(*name));
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

Result<std::optional<std::string_view>> HostRules::check(const net::Request& request, RefusalLog* refusals) const {
  const auto refuse = [&](RefusalReason reason, std::string_view name, const char* why) {
    if (refusals != nullptr) refusals->add(net::refused(request, reason, name));
    return std::unexpected(errors::forbidden(why));
  };
  const std::string_view host = request.fields().find("Host").value_or("");
  if (!allows_host(host)) {
    return refuse(RefusalReason::host, host, "This server does not accept the name in the Host header");
  }
  const auto origin = request.fields().find("Origin");
  if (!(origin && is_own_page(*this, request, host, *origin)) && !allows_origin(origin)) {
    return refuse(RefusalReason::origin, *origin, "Requests from this Origin are not allowed");
  }
  return origin;
}

}  // namespace proteus::server
