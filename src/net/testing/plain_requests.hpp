#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "net/http_server/exchange.hpp"

// For tests: a minimal request, and a handler that answers any request.
namespace proteus::net::test {

inline constexpr std::string_view kGetHello = "GET /hello?x=1 HTTP/1.1\r\nHost: h\r\n\r\n";

// Replies with the parts of the request.
inline Task<> echo(Exchange& exchange) {
  const net::Request& request = exchange.request();
  const std::string text =
      fmt::format("{} {} {} {}", request.method(), request.path(), request.query(), request.body());
  co_await exchange.reply({.content_type = "text/plain"}, text);
}

}  // namespace proteus::net::test
