#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "catalog/contexts/scopes.hpp"
#include "catalog/shape/shape.hpp"
#include "json/binding.hpp"

namespace proteus::providers {

// An operator's settings for some entries of one upstream.
struct ToolSettings {
  std::vector<std::string> match;  // patterns for the upstream's own names
  std::string rename = {};
  std::optional<std::string> title = {};
  std::optional<std::string> description = {};
  std::optional<std::string> append = {};
  std::optional<bool> hidden = {};
  std::map<std::string, boost::json::value> fixed = {};
  std::map<std::string, boost::json::value> defaults = {};
  std::optional<catalog::Confirm> confirm = {};
  std::vector<std::string> scopes = {};
  std::optional<std::chrono::milliseconds> timeout = {};

  // Whether anything but `scopes` is set.
  bool shapes() const;

  friend bool operator==(const ToolSettings&, const ToolSettings&) = default;
};

// The keys of `[[upstreams.tools]]`.
const json::Binding<ToolSettings>& tool_binding();
// Check the rules among the keys of one table, and among all tables of an upstream.
void check_tool(const ToolSettings& tool, const json::Place& place);
json::Codec<std::vector<ToolSettings>> tool_tables();

// Returns null if no entry requires a scope.
std::shared_ptr<const catalog::RequiredScopes> required_scopes(const std::vector<ToolSettings>& tools);
// Returns null if there are no tables.
std::shared_ptr<const catalog::Shape> shape_of(const std::vector<ToolSettings>& tools);

}  // namespace proteus::providers
