#pragma once

#include <string_view>

#include <proteus/error.hpp>

namespace proteus::app {

// Accepts an http or https URL, and an empty text for none.
Result<> check_url(std::string_view url);
// Like `check_url`, for issuers, which have neither a query nor a fragment (RFC 8414, section 2).
Result<> check_issuer_url(std::string_view url);

}  // namespace proteus::app
