#pragma once

#include <string_view>

#include <proteus/error.hpp>

#include "auth/fetch/fetch.hpp"

namespace proteus::auth::oauth {

// What an authorization server refused with (RFC 6749, 5.2), by what can be done about it; see read_token_answer.
Error server_error(const FetchAnswer& answer);
// The same for a code and a description that came otherwise. Neither is trusted: what cannot be printed is left out.
Error server_error(std::string_view code, std::string_view description);
// The code alone; empty for none.
std::string server_error_code(const FetchAnswer& answer);

}  // namespace proteus::auth::oauth
