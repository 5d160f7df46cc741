#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "net/http/url.hpp"

namespace proteus::redis {

// The address of a Redis, and our credentials there.
struct RedisUrl {
  // Parses redis://[user[:password]@]host[:port][/database] or, for TLS, rediss://…. User and password may be
  // percent-encoded. `?sslrootcert=FILE` names the certificate authorities, as in a PostgreSQL URL. An error says what
  // is wrong, and repeats neither user nor password.
  static Result<RedisUrl> parse(std::string_view text);

  net::Url server;  // http for plain TCP, https for TLS
  std::string user = {};
  Secret password = {};
  std::uint32_t database = 0;
  std::filesystem::path authorities = {};  // PEM; the system's if empty

  // Returns host and port, for messages.
  std::string shown() const { return std::string(server.authority()); }
};

}  // namespace proteus::redis
