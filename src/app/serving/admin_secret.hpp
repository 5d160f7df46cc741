#pragma once

#include <string_view>

#include <proteus/error.hpp>

#include "app/config/config.hpp"
#include "base/secret.hpp"

namespace proteus::app {

// The admin secret that follows from the pepper, where none is given.
Secret derive_admin_secret(std::string_view pepper);

// The one that a gateway of this configuration goes by, for the owner of its data directory.
Result<Secret> admin_secret_in_use(const Config& config);

}  // namespace proteus::app
