#pragma once

#include <string_view>

#include <proteus/error.hpp>

#include "app/config/config.hpp"
#include "base/secrets/secret.hpp"

namespace proteus::app {

// Returns the admin secret that is derived from the pepper, for gateways without a configured one.
Secret derive_admin_secret(std::string_view pepper);

// Returns the admin secret that a gateway with this configuration uses. Fails if `pepper_in_use` fails.
Result<Secret> admin_secret_in_use(const Config& config);

}  // namespace proteus::app
