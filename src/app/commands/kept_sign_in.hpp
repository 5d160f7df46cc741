#pragma once

#include <optional>
#include <string>

#include <proteus/client.hpp>
#include <proteus/error.hpp>

#include "app/commands/sign_in_file.hpp"

namespace proteus::app {

// Credentials that use and renew what a file keeps; whoever has to sign in again is told so. Nothing where the file is
// not there.
Result<std::optional<client::OAuth>> kept_sign_in(const std::string& url, const Environment& environment);

// The same file, written whenever the sign-in is another. A failure is logged: the tokens in use are still good.
std::function<void(const std::string&)> saving_to(const SignInFile& file);

}  // namespace proteus::app
