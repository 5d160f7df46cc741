#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "json/codec.hpp"

namespace proteus::app {

// Where to listen. Nothing is resolved: a host is an address, or "localhost".
struct ListenAddress {
  std::string host = "127.0.0.1";  // IPv6 without brackets
  std::uint16_t port = 8080;       // 0: any that is free

  // "127.0.0.1:8080", "[::1]:8080", "localhost:0"
  static Result<ListenAddress> parse(std::string_view text);
  std::string text() const;
  bool is_loopback() const;

  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

Result<std::string> parse_listen_host(std::string_view text);
Result<std::uint16_t> parse_port(std::string_view text);

json::Codec<ListenAddress> listen_address();
// "" stands for none, as in `ops_listen = ""`.
json::Codec<std::optional<ListenAddress>> address_or_none();

}  // namespace proteus::app
