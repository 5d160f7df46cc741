#pragma once

#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "gateway/grants/grant.hpp"

// Writes and reads grants and clients as the texts that the store seals.
namespace proteus::gateway {

// Whether a grant's refresh token is about to be sent. A process that finds `begun` in the store cannot tell whether
// the token was sent.
enum class Rotation : bool { none, begun };

std::string write_grant(const Grant& grant, Rotation rotation);
// A grant whose rotation had begun needs a sign-in, unless its server is known not to rotate refresh tokens.
Result<Grant> read_grant(std::string_view text);

std::string write_client(const auth::oauth::Client& client);
Result<auth::oauth::Client> read_client(std::string_view text);

}  // namespace proteus::gateway
