#pragma once

#include <cstdint>
#include <filesystem>

#include <proteus/error.hpp>

#include "net/io/tls.hpp"

namespace proteus::net {

enum class PeerCheck : std::uint8_t {
  certificate,  // signed by an authority, and for the host that was asked for
  none,         // anyone may answer; for tests and for networks that are trusted anyway
};

struct ClientTls {
  std::filesystem::path authorities = {};  // PEM; the system's where it is empty
  PeerCheck check = PeerCheck::certificate;
};

Result<TlsContext> client_tls(const ClientTls& settings);

}  // namespace proteus::net
