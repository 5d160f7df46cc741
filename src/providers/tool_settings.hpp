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

// What an operator says about some entries of one upstream.
struct ToolSettings {
  std::vector<std::string> match;  // patterns, by the upstream's own names
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

  // Whether there is more than scopes.
  bool shapes() const;

  friend bool operator==(const ToolSettings&, const ToolSettings&) = default;
};

// The keys of `[[upstreams.tools]]`.
const json::Binding<ToolSettings>& tool_binding();
// What must hold among the keys of one table, and among all tables of an upstream.
void check_tool(const ToolSettings& tool, const json::Place& place);
json::Codec<std::vector<ToolSettings>> tool_tables();

// Null where nothing requires a scope.
std::shared_ptr<const catalog::RequiredScopes> required_scopes(const std::vector<ToolSettings>& tools);
// Null where nothing is said about any.
std::shared_ptr<const catalog::Shape> shape_of(const std::vector<ToolSettings>& tools);

}  // namespace proteus::providers
