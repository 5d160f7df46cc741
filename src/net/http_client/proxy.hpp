#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "net/http/url.hpp"
#include "net/io/network.hpp"

namespace proteus::net {

struct Proxy {
  Url url;
  std::string authorization;  // value of Proxy-Authorization; empty for none
  std::string pool_key;       // of connections that serve all http hosts
};

// Decides which requests go through a proxy. A value, read once.
class ProxySettings {
 public:
  // No request goes through a proxy.
  ProxySettings() = default;

  // Reads the variables that curl uses: http_proxy (lower case only, because a CGI client can set HTTP_PROXY), and
  // https_proxy, all_proxy and no_proxy in either case, lower case first. An error names the variable but never its
  // value.
  static Result<ProxySettings> from_environment();
  static Result<ProxySettings> from(const std::function<std::optional<std::string>(const char* name)>& variable);

  // Returns the proxy for a URL, or null. Loopback hosts are never reached through a proxy.
  const Proxy* find(const Url& url) const;

 private:
  struct Exception {
    std::string host;                // a name, which matches all names below it, too
    std::optional<Network> network;  // or the addresses that match
    std::optional<std::uint16_t> port;
  };

  bool is_exempt(const Url& url) const;

  std::optional<Proxy> http_;
  std::optional<Proxy> https_;
  bool exempt_all_ = false;
  std::vector<Exception> exceptions_;
};

// Whether a host is this machine by name or address: localhost, names below it, 127.0.0.0/8, ::1.
bool is_loopback_host(std::string_view host);

}  // namespace proteus::net
