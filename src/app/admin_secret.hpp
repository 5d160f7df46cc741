#pragma once

#include <string_view>

#include "base/secret.hpp"

namespace proteus::app {

// The admin secret that follows from the pepper, where none is given.
Secret derive_admin_secret(std::string_view pepper);

}  // namespace proteus::app
