#include "client/message/header_parameters.hpp"

#include <boost/json/object.hpp>

#include "json/text.hpp"

namespace proteus::client {

Result<> HeaderParameters::learn(std::string_view tool, std::string_view definition) {
  const auto known = parameters_.find(tool);
  if (known != parameters_.end()) parameters_.erase(known);
  // Most tools have none, and most lists are long.
  if (definition.find("x-mcp-header") == std::string_view::npos && definition.find("\\u") == std::string_view::npos)
    return {};
  const auto value = json::parse(definition);
  if (!value) return std::unexpected(value.error());
  const auto* schema = value->is_object() ? value->get_object().if_contains("inputSchema") : nullptr;
  if (schema == nullptr) return {};
  auto parameters = mcp::mirrored_parameters(*schema);
  if (!parameters) return std::unexpected(std::move(parameters.error()));
  if (!parameters->empty()) parameters_.emplace(tool, std::move(*parameters));
  return {};
}

Result<std::vector<Header>> HeaderParameters::headers(std::string_view tool, std::string_view arguments) const {
  const auto known = parameters_.find(tool);
  if (known == parameters_.end() || arguments.empty()) return std::vector<Header>();
  const auto value = json::parse(arguments);
  if (!value) return std::unexpected(value.error());
  return mcp::mirror(known->second, *value);
}

}  // namespace proteus::client
