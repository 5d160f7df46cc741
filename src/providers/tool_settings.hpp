#pragma once

#include <memory>
#include <string>
#include <vector>

#include "catalog/contexts/scopes.hpp"
#include "json/binding.hpp"

namespace proteus::providers {

// What an operator says about some entries of one upstream.
struct ToolSettings {
  std::vector<std::string> match;  // patterns, by the upstream's own names
  std::vector<std::string> scopes;

  friend bool operator==(const ToolSettings&, const ToolSettings&) = default;
};

// The keys of `[[upstreams.tools]]`.
const json::Binding<ToolSettings>& tool_binding();

// Null where nothing requires a scope.
std::shared_ptr<const catalog::RequiredScopes> required_scopes(const std::vector<ToolSettings>& tools);

}  // namespace proteus::providers
