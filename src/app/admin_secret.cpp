#include "app/admin_secret.hpp"

#include "base/sealing.hpp"
#include "mcp/base64.hpp"

namespace proteus::app {

Secret derive_admin_secret(std::string_view pepper) {
  constexpr std::size_t kBytes = 24;
  return Secret(mcp::base64_encode(derive_bytes(pepper, "admin secret", kBytes), mcp::Base64::url));
}

}  // namespace proteus::app
