#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "json/codec.hpp"

namespace proteus::app {

// A host and a port to listen on. The host is an IP address or "localhost"; no name is resolved.
struct ListenAddress {
  std::string host = "127.0.0.1";  // IPv6 without brackets
  std::uint16_t port = 8080;       // 0: any free port

  // Parses "127.0.0.1:8080", "[::1]:8080" or "localhost:0".
  static Result<ListenAddress> parse(std::string_view text);
  std::string text() const;
  bool is_loopback() const;

  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

Result<std::string> parse_listen_host(std::string_view text);
Result<std::uint16_t> parse_port(std::string_view text);

json::Codec<ListenAddress> listen_address();
// Reads and writes "" as no address, as in `ops_listen = ""`.
json::Codec<std::optional<ListenAddress>> address_or_none();

}  // namespace proteus::app
