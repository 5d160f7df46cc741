#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/secret.hpp"
#include "net/http/url.hpp"

namespace proteus::redis {

// Where a Redis is, and who we are there.
struct RedisUrl {
  // redis://[user[:password]@]host[:port][/database] or rediss://… for TLS. Text in user and password may be
  // percent-encoded. `?sslrootcert=FILE` names the authorities of its certificate, as a PostgreSQL URL does. A fault
  // says what is wrong, and repeats neither user nor password.
  static Result<RedisUrl> parse(std::string_view text);

  net::Url server;  // http for plain TCP, https for TLS
  std::string user = {};
  Secret password = {};
  std::uint32_t database = 0;
  std::filesystem::path authorities = {};  // PEM; the system's where it is empty

  // For people: host and port.
  std::string shown() const { return std::string(server.authority()); }
};

}  // namespace proteus::redis
