#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus {

// The value of an environment variable, or nothing. Logic takes one of these, so that a test can bring its own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// The variables of this process.
Environment process_environment();
// These and no others.
Environment fixed_environment(std::map<std::string, std::string> variables);

// Says what is wrong with a name that no variable can have: letters, digits and underscores, and no digit in front.
Result<> check_variable_name(std::string_view name);

}  // namespace proteus
