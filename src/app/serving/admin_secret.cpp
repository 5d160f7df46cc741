#include "app/serving/admin_secret.hpp"

#include "base/base64.hpp"
#include "base/sealing.hpp"
#include "store/pepper.hpp"

namespace proteus::app {

Secret derive_admin_secret(std::string_view pepper) {
  constexpr std::size_t kBytes = 24;
  return Secret(base64_encode(derive_bytes(pepper, "admin secret", kBytes), Base64::url));
}

Result<Secret> admin_secret_in_use(const Config& config) {
  if (config.secrets.admin_secret) return *config.secrets.admin_secret;
  const auto pepper = config.secrets.pepper ? store::Pepper::given(config.secrets.pepper->reveal())
                                            : store::Pepper::read(config.data_directory);
  if (!pepper) return std::unexpected(pepper.error());
  return derive_admin_secret(pepper->value());
}

}  // namespace proteus::app
