#pragma once

#include <optional>
#include <string>

#include <proteus/client.hpp>
#include <proteus/error.hpp>

#include "app/commands/sign_in_file.hpp"

namespace proteus::app {

// Returns credentials that use and renew the saved sign-in at a server; nothing if there is none. They cannot open a
// browser: if a new sign-in is needed, requests fail and say so.
Result<std::optional<client::OAuth>> kept_sign_in(const std::string& url, const Environment& environment);

// Returns a callback that saves a changed sign-in to the file. A failure is only logged: the current tokens work.
std::function<void(const std::string&)> saving_to(const SignInFile& file);

}  // namespace proteus::app
