#include "catalog/definitions/definition_check.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>

namespace proteus::catalog {
namespace {

using boost::json::object;
using boost::json::value;

std::unexpected<Error> fault(std::string_view why) { return std::unexpected(errors::invalid(std::string(why))); }

Result<void> check_string(const object& of, std::string_view key, bool required) {
  const value* const found = of.if_contains(key);
  if (found == nullptr && required) return fault(fmt::format("it has no {}", key));
  if (found != nullptr && !found->is_string()) return fault(fmt::format("its {} is not a string", key));
  return {};
}

Result<void> check_input_schema(const value& schema) {
  const object* const members = schema.if_object();
  if (members == nullptr) return fault("its inputSchema is not an object");
  const value* const type = members->if_contains("type");
  if (type == nullptr || !type->is_string() || type->get_string() != "object") {
    return fault("its inputSchema does not have the type \"object\"");
  }
  const value* const properties = members->if_contains("properties");
  if (properties != nullptr) {
    if (!properties->is_object()) return fault("the properties of its inputSchema are not an object");
    for (const auto& [name, property] : properties->get_object()) {
      if (!property.is_object() && !property.is_bool()) return fault("a property of its inputSchema is not a schema");
    }
  }
  const value* const required = members->if_contains("required");
  const auto is_string = [](const value& element) { return element.is_string(); };
  if (required != nullptr && (!required->is_array() || !std::ranges::all_of(required->get_array(), is_string))) {
    return fault("what its inputSchema requires is not an array of strings");
  }
  return {};
}

bool needs_task_of(const object& tool) {
  const value* const execution = tool.if_contains("execution");
  if (execution == nullptr || !execution->is_object()) return false;
  const value* const support = execution->get_object().if_contains("taskSupport");
  return support != nullptr && support->is_string() && support->get_string() == "required";
}

Result<std::vector<mcp::MirroredParameter>> check_tool(const object& tool, Tasks tasks) {
  const value* const input = tool.if_contains("inputSchema");
  if (input == nullptr) return fault("it has no inputSchema");
  if (auto checked = check_input_schema(*input); !checked) return std::unexpected(checked.error());
  if (const value* const output = tool.if_contains("outputSchema"); output != nullptr && !output->is_object()) {
    return fault("its outputSchema is not an object");
  }
  if (const value* const hints = tool.if_contains("annotations"); hints != nullptr && !hints->is_object()) {
    return fault("its annotations are not an object");
  }
  if (tasks == Tasks::not_spoken && needs_task_of(tool))
    return fault("it can be called only as a task of 2025-11-25, and the server does not offer such tasks");
  return mcp::mirrored_parameters(*input);
}

Result<void> check_prompt(const object& prompt) {
  const value* const arguments = prompt.if_contains("arguments");
  if (arguments == nullptr) return {};
  if (!arguments->is_array()) return fault("its arguments are no array");
  for (const auto& argument : arguments->get_array()) {
    const object* const members = argument.if_object();
    const value* const name = members == nullptr ? nullptr : members->if_contains("name");
    if (name == nullptr || !name->is_string()) return fault("one of its arguments has no name");
  }
  return {};
}

}  // namespace

Result<std::vector<mcp::MirroredParameter>> check_definition(Kind kind, const value& definition, Tasks tasks) {
  const object& members = definition.as_object();
  for (const std::string_view key : {"title", "description", "mimeType"}) {
    if (auto checked = check_string(members, key, false); !checked) return std::unexpected(checked.error());
  }
  if (kind == Kind::tool) return check_tool(members, tasks);
  const auto checked = kind == Kind::prompt ? check_prompt(members) : check_string(members, "name", true);
  if (!checked) return std::unexpected(checked.error());
  return {};
}

bool needs_task(const value& tool) { return needs_task_of(tool.as_object()); }

bool declares_read_only(const value& tool) {
  const value* const hints = tool.as_object().if_contains("annotations");
  const value* const hint = hints == nullptr ? nullptr : hints->as_object().if_contains("readOnlyHint");
  return hint != nullptr && hint->is_bool() && hint->get_bool();
}

}  // namespace proteus::catalog
