#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"

namespace proteus::auth {

// Encodes a text as application/x-www-form-urlencoded, for bodies and queries. Writes spaces as %20, which both accept.
std::string form_encoded(std::string_view text);

// Appends "name=value", unless the value is empty.
void append_form(std::string& out, std::string_view name, std::string_view value);

// Returns the Authorization field with which a client authenticates (RFC 6749, section 2.3.1: both parts are encoded
// before they are joined).
std::string basic_credentials(std::string_view id, const Secret& secret);

using FormFields = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::size_t kMaxForm = std::size_t{64} * 1024;

// Fails if the form is too long, has too many fields, has a name twice, or is encoded incorrectly.
Result<FormFields> read_form(std::string_view text);
// Returns an empty text if there is no such field.
std::string_view find_in(const FormFields& form, std::string_view name);

}  // namespace proteus::auth
