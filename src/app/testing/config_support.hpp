#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/read_config.hpp"

namespace proteus::app {

// A configuration and its diagnostics as text.
struct Read {
  std::optional<Config> config;
  std::vector<std::string> said;
};

inline Read read(std::string_view toml, std::map<std::string, std::string> variables = {},
                 const Overrides& overrides = {}, Purpose purpose = Purpose::serve,
                 std::vector<SourceFile> contexts = {}, std::optional<Clock::Wall> now = {}) {
  auto outcome =
      read_config({.main = SourceFile{"proteus.toml", std::string(toml)}, .contexts = std::move(contexts), .now = now},
                  overrides, fixed_environment(std::move(variables)), purpose);
  Read out{std::move(outcome.config), {}};
  for (const Diagnostic& diagnostic : outcome.diagnostics)
    out.said.push_back(show(diagnostic));
  return out;
}

}  // namespace proteus::app
