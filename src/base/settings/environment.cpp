#include "base/settings/environment.hpp"

#include <algorithm>
#include <cstdlib>

namespace proteus {

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

Environment fixed_environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

Result<> check_variable_name(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= 256 && !(name.front() >= '0' && name.front() <= '9') &&
                    std::ranges::all_of(name, [](char c) {
                      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                    });
  if (!fits) {
    return std::unexpected(errors::invalid(
        "must be the name of an environment variable: letters, digits and underscores, not beginning with a digit"));
  }
  return {};
}

}  // namespace proteus
