#pragma once

#include <string>

#include <proteus/error.hpp>

namespace proteus::server {

// Returns the value of a WWW-Authenticate field (RFC 6750, section 3), with the scopes to request if the token lacks
// scopes. Equal errors give equal texts.
std::string bearer_challenge(const Error& error);

}  // namespace proteus::server
