#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "net/http/url.hpp"

namespace proteus::net {

struct Proxy {
  Url url;
  std::string authorization;  // the value of Proxy-Authorization; empty for none
  std::string pool_key;       // of connections that serve every http host
};

// Which requests go through a proxy. A value, read once.
class ProxySettings {
 public:
  // Every request goes straight to its host.
  ProxySettings() = default;

  // By the customs of curl: http_proxy (in lower case only, because the other spelling can be set by a CGI
  // client), https_proxy, all_proxy and no_proxy, the latter three in either case, the lower one first. A
  // fault names the variable and never its value.
  static Result<ProxySettings> from_environment();
  static Result<ProxySettings> from(const std::function<std::optional<std::string>(const char* name)>& variable);

  // The proxy for a URL, or none. This machine itself is never reached through one.
  const Proxy* find(const Url& url) const;

 private:
  struct Exception {
    std::string host;  // and all below it; an address stands for itself alone
    std::optional<std::uint16_t> port;
  };

  bool is_exempt(const Url& url) const;

  std::optional<Proxy> http_;
  std::optional<Proxy> https_;
  bool exempt_all_ = false;
  std::vector<Exception> exceptions_;
};

// Whether a host is this machine by name or by address: localhost, 127.0.0.0/8, ::1.
bool is_loopback_host(std::string_view host);

}  // namespace proteus::net
