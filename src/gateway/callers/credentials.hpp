#pragma once

#include <cstdint>
#include <string_view>

#include "net/http_server/request.hpp"

namespace proteus::gateway {

// What a request says who it comes from.
struct Credentials {
  enum class Scheme : std::uint8_t { none, bearer, dpop, unknown };

  Scheme scheme = Scheme::none;
  std::string_view token;  // empty for none, and where the scheme is unknown
};

// Of an Authorization field. Schemes are compared without regard to case (RFC 9110, 11.1).
Credentials credentials_of(std::string_view authorization);
inline Credentials credentials_of(const net::Request& request) {
  return credentials_of(request.fields().find("Authorization").value_or(""));
}

}  // namespace proteus::gateway
