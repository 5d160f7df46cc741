#pragma once

#include <cstdint>
#include <filesystem>

#include <proteus/error.hpp>

#include "net/io/tls.hpp"

namespace proteus::net {

enum class PeerCheck : std::uint8_t {
  certificate,  // signed by an authority and valid for the requested host
  none,         // any peer is accepted; for tests and for trusted networks
};

struct ClientTls {
  std::filesystem::path authorities = {};  // PEM file; the system's authorities if empty
  PeerCheck check = PeerCheck::certificate;
};

Result<TlsContext> client_tls(const ClientTls& settings);

}  // namespace proteus::net
