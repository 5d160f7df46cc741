#include "catalog/shape/shape_schema.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/message.hpp"
#include "json/schema/schema.hpp"
#include "json/splice.hpp"
#include "json/text.hpp"

namespace proteus::catalog {
namespace {

using boost::json::object;
using boost::json::value;

constexpr json::ScanLimits kMembers{.members = 1024};

std::unexpected<Error> refuse_schema(std::string why) { return std::unexpected(errors::invalid(std::move(why))); }

// Keywords whose schemas apply to the same object.
constexpr std::array kBranches = {"allOf", "anyOf", "oneOf"};
constexpr std::array kConditions = {"not", "if", "then", "else"};
// Keywords that depend on all arguments at once.
constexpr std::array kWhole = {"$ref",          "$dynamicRef",   "$recursiveRef",         "const",       "enum",
                               "minProperties", "maxProperties", "unevaluatedProperties", "dependencies"};
// Keywords that depend on all arguments, except at the root, where it is certain which arguments they concern.
constexpr std::array kClosed = {"additionalProperties", "patternProperties", "propertyNames"};

class Independence {
 public:
  Independence(const ArgumentValues& fixed, const ArgumentValues& defaults) : fixed_(fixed), defaults_(defaults) {}

  // Returns a keyword by which the schema depends on whether one of the arguments is there; empty if there is none.
  std::string_view dependent_by(const object& schema, bool is_root) const {
    for (const std::string_view keyword : kWhole) {
      if (schema.contains(keyword)) return keyword;
    }
    if (!is_root) {
      for (const std::string_view keyword : kClosed) {
        if (schema.contains(keyword)) return keyword;
      }
      if (names_one(schema.if_contains("properties"))) return "properties";
      if (lists_one(schema.if_contains("required"))) return "required";
    }
    if (const auto found = dependent_among(schema, "dependentRequired"); !found.empty()) return found;
    if (const auto found = dependent_among(schema, "dependentSchemas"); !found.empty()) return found;
    for (const std::string_view keyword : kBranches) {
      const value* const list = schema.if_contains(keyword);
      if (list == nullptr || !list->is_array()) continue;
      for (const value& each : list->get_array()) {
        if (is_dependent(each)) return keyword;
      }
    }
    for (const std::string_view keyword : kConditions) {
      const value* const each = schema.if_contains(keyword);
      if (each != nullptr && is_dependent(*each)) return keyword;
    }
    return {};
  }

 private:
  bool is_one(std::string_view name) const { return fixed_.contains(name) || defaults_.contains(name); }
  bool is_dependent(const value& schema) const {
    return schema.is_object() && !dependent_by(schema.get_object(), false).empty();
  }
  bool names_one(const value* members) const {
    return members != nullptr && members->is_object() &&
           std::ranges::any_of(members->get_object(), [&](const auto& member) { return is_one(member.key()); });
  }
  bool lists_one(const value* list) const {
    return list != nullptr && list->is_array() && std::ranges::any_of(list->get_array(), [&](const value& each) {
             return each.is_string() && is_one(each.get_string());
           });
  }
  std::string_view dependent_among(const object& schema, std::string_view keyword) const {
    const value* const members = schema.if_contains(keyword);
    if (members == nullptr || !members->is_object()) return {};
    if (names_one(members)) return keyword;
    for (const auto& [name, each] : members->get_object()) {
      if (lists_one(&each) || is_dependent(each)) return keyword;
    }
    return {};
  }

  const ArgumentValues& fixed_;
  const ArgumentValues& defaults_;
};

// Fails if a value does not fit what the schema says about its argument. A schema that cannot be compiled is left for
// the upstream to check.
Result<void> check_values(const object& schema, const ArgumentValues& fixed, const ArgumentValues& defaults) {
  object probe;
  for (const std::string_view keyword : {"$schema", "$defs", "definitions", "properties", "patternProperties",
                                         "additionalProperties", "propertyNames"}) {
    if (const value* const found = schema.if_contains(keyword)) probe[keyword] = *found;
  }
  object arguments;
  for (const auto* values : {&fixed, &defaults}) {
    for (const auto& [name, text] : *values) {
      auto parsed = json::parse(text);
      if (!parsed) return refuse_schema(fmt::format("the value of {} is not JSON", log::printable(name, 200)));
      arguments[name] = std::move(*parsed);
    }
  }
  const auto compiled = json::Schema::compile(probe);
  if (!compiled) return {};
  const auto found = (*compiled)->validate(arguments, 1);
  if (found.ok()) return {};
  return refuse_schema(fmt::format("an argument that is set for it does not fit its inputSchema: {}",
                                   json::to_string(found.errors.front())));
}

// The texts that an edit inserts; they must outlive it.
using Pieces = std::deque<std::string>;
using Storage = std::vector<std::unique_ptr<std::string>>;

std::string member(std::string_view key, std::string_view text) { return fmt::format("{}:{}", json::quote(key), text); }

// Puts a default into the schema of a property.
Result<void> set_default(json::Splice& splice, std::string_view property, std::string_view text, Pieces& pieces,
                         Storage& storage) {
  if (!json::is_object(property)) {
    splice.replace(property, pieces.emplace_back(fmt::format("{{{}}}", member("default", text))));
    return {};
  }
  const auto members = json::members_of(property, storage, kMembers);
  if (!members) return std::unexpected(members.error());
  if (const std::string_view before = members->value("default"); !before.empty()) {
    splice.replace(before, text);
    return {};
  }
  json::edit_members(
      splice, property, *members, [](const json::Member&) { return false; },
      pieces.emplace_back(member("default", text)));
  return {};
}

Result<void> edit_properties(json::Splice& splice, std::string_view properties, const ArgumentValues& fixed,
                             const ArgumentValues& defaults, Pieces& pieces, Storage& storage) {
  const auto members = json::members_of(properties, storage, kMembers);
  if (!members) return std::unexpected(members.error());
  std::string added;
  for (const auto& [name, text] : defaults) {
    if (const std::string_view property = members->value(name); !property.empty()) {
      if (auto set = set_default(splice, property, text, pieces, storage); !set) return set;
      continue;
    }
    added += fmt::format("{}{}:{{{}}}", added.empty() ? "" : ",", json::quote(name), member("default", text));
  }
  json::edit_members(
      splice, properties, *members, [&](const json::Member& each) { return fixed.contains(each.key); },
      pieces.emplace_back(std::move(added)));
  return {};
}

// Returns the array of names that are still required; empty if there is none.
std::string still_required(const object& schema, const ArgumentValues& fixed, const ArgumentValues& defaults) {
  std::string out;
  const value* const required = schema.if_contains("required");
  if (required == nullptr) return out;
  for (const value& each : required->get_array()) {
    const std::string_view name = each.get_string();
    if (fixed.contains(name) || defaults.contains(name)) continue;
    out += out.empty() ? "[" : ",";
    json::append_quoted(out, name);
  }
  if (!out.empty()) out += ']';
  return out;
}

}  // namespace

Result<std::string> with_arguments_added(std::string_view tool, const value& schema, const ArgumentValues& fixed,
                                         const ArgumentValues& defaults) {
  const object& root = schema.as_object();
  if (const auto keyword = Independence(fixed, defaults).dependent_by(root, true); !keyword.empty()) {
    return refuse_schema(fmt::format("its inputSchema uses {} in a way that no argument can be taken out of", keyword));
  }
  if (const value* const more = root.if_contains("additionalProperties"); more != nullptr && more->is_object()) {
    const value* const own = root.if_contains("properties");
    for (const auto& [name, text] : defaults) {
      if (own == nullptr || !own->as_object().contains(name))
        return refuse_schema(fmt::format("it has no argument {} to set a default of", log::printable(name, 200)));
    }
  }
  if (auto checked = check_values(root, fixed, defaults); !checked) return std::unexpected(std::move(checked.error()));

  Storage storage;
  Pieces pieces;
  json::Splice splice(tool);
  const auto all = json::members_of(tool, storage, kMembers);
  if (!all) return std::unexpected(all.error());
  const std::string_view text = all->value("inputSchema");
  const auto members = json::members_of(text, storage, kMembers);
  if (!members) return std::unexpected(members.error());

  std::string added;
  const std::string_view properties = members->value("properties");
  if (!properties.empty()) {
    auto edited = edit_properties(splice, properties, fixed, defaults, pieces, storage);
    if (!edited) return std::unexpected(std::move(edited.error()));
  } else if (!defaults.empty()) {
    for (const auto& [name, each] : defaults)
      added += fmt::format("{}{}:{{{}}}", added.empty() ? "" : ",", json::quote(name), member("default", each));
    added = member("properties", fmt::format("{{{}}}", added));
  }
  const std::string& required = pieces.emplace_back(still_required(root, fixed, defaults));
  if (const std::string_view before = members->value("required"); !before.empty() && !required.empty())
    splice.replace(before, required);
  json::edit_members(
      splice, text, *members, [&](const json::Member& each) { return each.key == "required" && required.empty(); },
      pieces.emplace_back(std::move(added)));
  return splice.str();
}

}  // namespace proteus::catalog
