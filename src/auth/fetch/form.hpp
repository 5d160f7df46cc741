#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

namespace proteus::auth {

// application/x-www-form-urlencoded, as bodies and queries have it. Spaces are written as %20, which both read.
std::string form_encoded(std::string_view text);

// Adds "name=value", unless the value is empty.
void append_form(std::string& out, std::string_view name, std::string_view value);

using FormFields = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::size_t kMaxForm = std::size_t{64} * 1024;

// Fails where it is too long, has a name twice, or is not encoded well.
Result<FormFields> read_form(std::string_view text);
// Empty where there is none.
std::string_view find_in(const FormFields& form, std::string_view name);

}  // namespace proteus::auth
