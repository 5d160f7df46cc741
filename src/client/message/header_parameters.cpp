#include "client/message/header_parameters.hpp"

#include <algorithm>
#include <iterator>

#include <boost/json/object.hpp>

#include "json/text.hpp"
#include "net/http/fields.hpp"

namespace proteus::client {

Result<> HeaderParameters::learn(std::string_view tool, std::string_view definition) {
  const auto known = parameters_.find(tool);
  if (known != parameters_.end()) parameters_.erase(known);
  // Skips parsing for most tools, because lists are long. An escape (\u) may hide the annotation's name.
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

Result<std::vector<Header>> HeaderParameters::headers(std::string_view tool, std::string_view arguments,
                                                      std::span<const Header> of_caller) const {
  const auto known = parameters_.find(tool);
  if (known == parameters_.end()) return std::vector<Header>(of_caller.begin(), of_caller.end());
  std::vector<Header> headers;
  if (!arguments.empty()) {
    const auto value = json::parse(arguments);
    if (!value) return std::unexpected(value.error());
    auto mirrored = mcp::mirror(known->second, *value);
    if (!mirrored) return std::unexpected(std::move(mirrored.error()));
    headers = std::move(*mirrored);
  }
  std::ranges::copy_if(of_caller, std::back_inserter(headers), [&known](const Header& header) {
    return std::ranges::none_of(known->second, [&header](const mcp::MirroredParameter& parameter) {
      return net::same_field_name(parameter.header, header.first);
    });
  });
  return headers;
}

}  // namespace proteus::client
