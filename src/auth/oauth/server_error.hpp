#pragma once

#include <string_view>

#include <proteus/error.hpp>

#include "auth/fetch/fetch.hpp"

namespace proteus::auth::oauth {

// Returns the error of an authorization server (RFC 6749, section 5.2). Its kind says what can be done; see
// read_token_answer.
Error server_error(const FetchAnswer& answer);
// Like the other, for a code and a description that arrived in another way. Neither is trusted: both are truncated, and
// control characters are escaped.
Error server_error(std::string_view code, std::string_view description);
// Returns the error code alone; empty if there is none.
std::string server_error_code(const FetchAnswer& answer);

}  // namespace proteus::auth::oauth
