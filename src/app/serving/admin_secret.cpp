#include "app/serving/admin_secret.hpp"

#include "app/serving/pepper_in_use.hpp"
#include "base/secrets/sealing.hpp"
#include "base/text/base64.hpp"

namespace proteus::app {

Secret derive_admin_secret(std::string_view pepper) {
  constexpr std::size_t kBytes = 24;
  return Secret(base64_encode(derive_bytes(pepper, "admin secret", kBytes), Base64::url));
}

Result<Secret> admin_secret_in_use(const Config& config) {
  if (config.secrets.admin_secret) return *config.secrets.admin_secret;
  const auto pepper = pepper_in_use(config);
  if (!pepper) return std::unexpected(pepper.error());
  return derive_admin_secret(pepper->value());
}

}  // namespace proteus::app
