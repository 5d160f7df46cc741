#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace proteus {

// The value of an environment variable, or nothing. Logic takes one of these, so that a test can bring its own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// The variables of this process.
Environment process_environment();
// These and no others.
Environment fixed_environment(std::map<std::string, std::string> variables);

}  // namespace proteus
