#pragma once

#include <optional>
#include <string>

#include <proteus/client.hpp>
#include <proteus/error.hpp>

#include "app/commands/sign_in_file.hpp"

namespace proteus::app {

// Returns credentials that use and renew the saved sign-in at a server; nothing if there is none. They cannot open a
// browser: if a new sign-in is needed, requests fail and say so. If renewed tokens cannot be saved, this is only
// logged: they work for this command.
Result<std::optional<client::OAuth>> kept_sign_in(const std::string& url, const Environment& environment);

}  // namespace proteus::app
