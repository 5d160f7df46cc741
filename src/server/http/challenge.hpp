#pragma once

#include <string>

#include <proteus/error.hpp>

namespace proteus::server {

// The value of a WWW-Authenticate field (RFC 6750, 3): with the scopes to ask for, where that is what is missing. The
// same text for the same error.
std::string bearer_challenge(const Error& error);

}  // namespace proteus::server
