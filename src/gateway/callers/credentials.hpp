#pragma once

#include <cstdint>
#include <string_view>

#include "net/http_server/request.hpp"

namespace proteus::gateway {

// The credentials of a request.
struct Credentials {
  enum class Scheme : std::uint8_t { none, bearer, dpop, unknown };

  Scheme scheme = Scheme::none;
  std::string_view token;  // empty for none, or if the scheme is unknown
};

// Reads an Authorization field. The scheme is case-insensitive (RFC 9110, section 11.1).
Credentials credentials_of(std::string_view authorization);
inline Credentials credentials_of(const net::Request& request) {
  return credentials_of(request.fields().find("Authorization").value_or(""));
}

}  // namespace proteus::gateway
