#include "app/config/listen_address.hpp"

#include <charconv>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "net/http_client/proxy.hpp"

namespace proteus::app {

Result<std::string> parse_listen_host(std::string_view text) {
  std::string host(text);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  boost::system::error_code status;
  boost::asio::ip::make_address(host, status);
  if (host != "localhost" && (status || host.contains('%')))
    return std::unexpected(errors::invalid("must have an IP address or localhost as its host"));
  return host;
}

Result<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (status != std::errc{} || end != text.data() + text.size())
    return std::unexpected(errors::invalid("must have a port from 0 to 65535"));
  return port;
}

Result<ListenAddress> ListenAddress::parse(std::string_view text) {
  const auto colon = text.rfind(':');
  const bool bare_ipv6 = !text.starts_with('[') && text.find(':') != colon;
  if (colon == std::string_view::npos || bare_ipv6) {
    return std::unexpected(errors::invalid("must be a host and a port, such as \"127.0.0.1:8080\" or \"[::1]:8080\""));
  }
  auto host = parse_listen_host(text.substr(0, colon));
  if (!host) return std::unexpected(std::move(host.error()));
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return std::unexpected(port.error());
  return ListenAddress{std::move(*host), *port};
}

std::string ListenAddress::text() const {
  return host.contains(':') ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

bool ListenAddress::is_loopback() const { return net::is_loopback_host(host); }

json::Codec<ListenAddress> listen_address() {
  return {.type = "address",
          .read =
              [](const boost::json::value& value, ListenAddress& onto, const json::Place& place) {
                const auto* string = value.if_string();
                if (string == nullptr) return json::wrong_kind(place, "a string", value);
                auto given = ListenAddress::parse(*string);
                if (!given) return place.fault(given.error().message());
                onto = std::move(*given);
              },
          .write = [](const ListenAddress& address, json::Part part) -> std::optional<boost::json::value> {
            if (part == json::Part::secrets) return std::nullopt;
            return boost::json::value(address.text());
          }};
}

json::Codec<std::optional<ListenAddress>> address_or_none() {
  auto address = json::optional(listen_address());
  return {.type = address.type,
          .read =
              [read = address.read](const boost::json::value& value, std::optional<ListenAddress>& onto,
                                    const json::Place& place) {
                if (value.is_string() && value.get_string().empty()) {
                  onto.reset();
                } else {
                  read(value, onto, place);
                }
              },
          .write = [write = address.write](const std::optional<ListenAddress>& from,
                                           json::Part part) -> std::optional<boost::json::value> {
            if (!from && part == json::Part::settings) return boost::json::value("");
            return write(from, part);
          }};
}

}  // namespace proteus::app
