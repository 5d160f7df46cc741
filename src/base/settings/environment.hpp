#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus {

// Returns the value of an environment variable, or nothing. Code that reads variables takes an Environment, so that
// tests can supply their own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// The variables of this process.
Environment process_environment();
// Exactly these variables.
Environment fixed_environment(std::map<std::string, std::string> variables);

// Fails if no variable can have this name: letters, digits and underscores, at most 256, not beginning with a digit.
Result<> check_variable_name(std::string_view name);

}  // namespace proteus
