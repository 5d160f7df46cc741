#include "app/config/server_settings.hpp"

#include <algorithm>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "net/http/url.hpp"

namespace proteus::app {
namespace {

using json::duration;
using json::field;
using json::text;

bool is_host_name(std::string_view host) {
  return !host.empty() && host.size() <= 253 && std::ranges::all_of(host, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
           c == '_';
  });
}

bool is_address(std::string_view text) {
  boost::system::error_code status;
  boost::asio::ip::make_address(std::string(text), status);
  return !status;
}

bool is_network(std::string_view text) {
  boost::system::error_code status;
  boost::asio::ip::make_network_v4(std::string(text), status);
  if (!status) return true;
  boost::asio::ip::make_network_v6(std::string(text), status);
  return !status;
}

Result<> check_origin(std::string_view origin) {
  if (origin == "*") return {};
  const auto url = net::Url::parse(origin);
  if (!url || url->target() != "/" || origin.ends_with('/') || origin.contains('?') || origin.contains('#')) {
    return std::unexpected(errors::invalid("must be an origin such as \"https://app.example.com\", or \"*\""));
  }
  return {};
}

Result<> check_public_url(std::string_view text) {
  if (text.empty()) return {};
  const auto url = net::Url::parse(text);
  if (!url || text.contains('?') || text.contains('#'))
    return std::unexpected(errors::invalid("must be a URL such as \"https://mcp.example.com\", without a query"));
  return {};
}

Result<> check_host(std::string_view host) {
  if (!is_host_name(host) && !is_address(host))
    return std::unexpected(errors::invalid("must be a host name or an address, without a port"));
  return {};
}

Result<> check_proxy(std::string_view proxy) {
  if (proxy.contains('/') ? is_network(proxy) : is_address(proxy)) return {};
  return std::unexpected(errors::invalid("must be a network such as \"10.0.0.0/8\", or an address"));
}

Result<> check_egress(std::string_view rule) {
  const bool fits = rule.contains('/') ? is_network(rule) : is_host_name(rule) || is_address(rule);
  if (!fits) {
    return std::unexpected(errors::invalid("must be a network such as \"10.0.0.0/8\", an address, or a host name"));
  }
  return {};
}

const json::Binding<TlsSettings>& tls_binding() {
  static const json::Binding<TlsSettings> binding{
      field("certificate", &TlsSettings::certificate, text(), "PEM file of the certificate and its chain."),
      field("key", &TlsSettings::key, text(), "PEM file of the private key."),
  };
  return binding;
}

void check_tls(const TlsSettings& tls, const json::Place& place) {
  if (tls.certificate.empty() != tls.key.empty()) place.fault("needs both certificate and key, or neither");
}

}  // namespace

const json::Binding<ServerSettings>& server_binding() {
  using S = ServerSettings;
  static const json::Binding<S> binding{
      field("listen", &S::listen, listen_address(), "Address to listen on; port 0 takes a free port."),
      field("threads", &S::threads, json::integer<unsigned>(0, 1024), "Worker threads; 0 for one per core."),
      field("allowed_origins", &S::allowed_origins, json::list(text({.check = check_origin}), "strings"),
            "Origins of web pages that may call; `*` for all. A loopback listener always allows loopback origins."),
      field("allowed_hosts", &S::allowed_hosts, json::list(text({.check = check_host}), "strings"),
            "Other host names that clients may use for a loopback listener."),
      field("old_sse", &S::old_sse, json::boolean(),
            "Also serve the HTTP+SSE transport of 2024-11-05, at `/sse` and `/sse/{context}`, for clients that know "
            "nothing newer."),
      field("max_body", &S::max_body, json::size(kibibytes(1), ByteSize(std::uint64_t{1} << 30U)),
            "Maximum size of a request body."),
      field("page_size", &S::page_size, json::integer<unsigned>(1, 100'000), "Entries per page of a list."),
      field("grace", &S::grace, duration(json::Zero::allowed), "Time for running calls to finish at shutdown."),
      field("tls", &S::tls, json::table<TlsSettings>(tls_binding(), check_tls), "Serve over TLS."),
      field("ops_listen", &S::ops_listen, address_or_none(),
            "Separate address for health and metrics; `\"\"` for none."),
      field(
          "public_url", &S::public_url, text({.check = check_public_url}),
          "URL at which clients reach the gateway. Access tokens and metadata use it. Required with `[[auth.issuers]]` "
          "unless it listens on loopback."),
      field("trusted_proxies", &S::trusted_proxies, json::list(text({.check = check_proxy}), "strings"),
            "Networks and addresses of proxies whose `Forwarded` or `X-Forwarded-For` names the client: in logs, and "
            "for the limits of sign-in attempts. They decide nothing else."),
  };
  return binding;
}

const json::Binding<SessionSettings>& session_binding() {
  using S = SessionSettings;
  static const json::Binding<S> binding{
      field("idle_timeout", &S::idle_timeout, duration(),
            "Client sessions and tool sessions end after this time without use."),
      field("http_timeout", &S::http_timeout, duration(), "Time for a session tool's back end to answer."),
      field("event_store", &S::event_store, json::choice<EventStore>({{"memory", EventStore::memory}}),
            "Where Proteus keeps events for clients that resume a stream."),
      field("events_per_stream", &S::events_per_stream, json::integer<unsigned>(1, 1'000'000),
            "Events kept per stream for replay."),
  };
  return binding;
}

const json::Binding<EgressSettings>& egress_binding() {
  using S = EgressSettings;
  static const json::Binding<S> binding{
      field("allow_private", &S::allow_private, json::boolean(),
            "Whether session tools and upstreams registered at runtime may use private addresses."),
      field("allow", &S::allow, json::list(text({.check = check_egress}), "strings"),
            "Networks, addresses and hosts that are always allowed."),
  };
  return binding;
}

}  // namespace proteus::app
