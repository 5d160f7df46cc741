#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/log/refusal_log.hpp"
#include "net/http_server/request.hpp"

namespace proteus::server {

// Which values of Host and Origin are accepted: the defence against DNS rebinding.
struct HostRules {
  bool loopback = true;                      // the listener is on loopback, so other names are not ours
  std::vector<std::string> allowed_origins;  // as in the header, or "*"
  std::vector<std::string> allowed_hosts;    // host names, without port
  // For probes and scrapers, which know no name: also accepts an empty Host, and any IP address unless `loopback`. An
  // address cannot be rebound.
  bool for_operators = false;
  // Also accepts an Origin that equals the Host of the request: a page that this server itself serves. With DNS
  // rebinding, the page of any site looks like that, so the Host must be a name that no other site can use.
  bool own_pages = false;

  bool allows_host(std::string_view host_header) const;
  // Also accepts a missing Origin: a browser sends one whenever a page of another site could read the answer.
  bool allows_origin(std::optional<std::string_view> origin) const;
  // Checks Host and Origin of a request. Returns the Origin; nothing if there is none. Reports a rejected request to
  // `refusals`, which may be null.
  Result<std::optional<std::string_view>> check(const net::Request& request, RefusalLog* refusals) const;
};

// Whether a host is "localhost", ::1 or in 127.0.0.0/8, with or without brackets and port.
bool is_loopback_name(std::string_view host);

}  // namespace proteus::server
