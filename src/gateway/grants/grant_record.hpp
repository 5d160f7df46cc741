#pragma once

#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "gateway/grants/grant.hpp"

// Grants and clients as the texts that the store seals.
namespace proteus::gateway {

// Whether its refresh token is about to be sent: a process that finds that written cannot tell whether it was.
enum class Rotation : bool { none, begun };

std::string write_grant(const Grant& grant, Rotation rotation);
// One whose rotation had begun needs a sign-in, unless its server is known to leave refresh tokens as they are.
Result<Grant> read_grant(std::string_view text);

std::string write_client(const auth::oauth::Client& client);
Result<auth::oauth::Client> read_client(std::string_view text);

}  // namespace proteus::gateway
