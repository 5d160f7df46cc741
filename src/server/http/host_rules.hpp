#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/refusal_log.hpp"
#include "net/http_server/request.hpp"

namespace proteus::server {

// Which names a browser may reach us by, and from which pages: the defence against DNS rebinding.
struct HostRules {
  bool loopback = true;                      // listening on loopback only: other names are not ours
  std::vector<std::string> allowed_origins;  // as in the header, or "*"
  std::vector<std::string> allowed_hosts;    // host names, without port
  // For probes and scrapers, which know no name: also by none, and by any address unless it listens on loopback only.
  // Nobody can rebind one.
  bool for_operators = false;
  // Whether pages that this server itself serves may ask: an Origin that is the Host of the request.
  bool own_pages = false;

  bool allows_host(std::string_view host_header) const;
  // A request without an Origin does not come from a page.
  bool allows_origin(std::optional<std::string_view> origin) const;
  // Both, for a request. Gives its Origin, where it comes from a page. What is not allowed is reported to `refusals`,
  // unless that is null.
  Result<std::optional<std::string_view>> check(const net::Request& request, RefusalLog* refusals) const;
};

// "localhost", 127.0.0.0/8 or ::1, with or without brackets and port.
bool is_loopback_name(std::string_view host);

}  // namespace proteus::server
