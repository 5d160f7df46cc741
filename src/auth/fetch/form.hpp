#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

namespace proteus::auth {

// application/x-www-form-urlencoded, as bodies and queries have it. Spaces are written as %20, which both read.
std::string form_encoded(std::string_view text);

using FormFields = std::vector<std::pair<std::string, std::string>>;

// Those with an empty value are left out.
std::string write_form(std::span<const std::pair<std::string, std::string>> fields);

inline constexpr std::size_t kMaxForm = std::size_t{64} * 1024;

// Fails where it is too long, has a name twice, or is not encoded well.
Result<FormFields> read_form(std::string_view text);
// Empty where there is none.
std::string_view find_in(const FormFields& form, std::string_view name);

}  // namespace proteus::auth
