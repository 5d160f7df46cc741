#include "catalog/pins/schema_keywords.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace proteus::catalog {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

// JSON Schema treats every unknown keyword as an annotation. Here only keywords whose names mark them as annotations
// count as such.
bool is_annotation(std::string_view key) {
  static constexpr std::array<std::string_view, 9> kAnnotations = {
      "title", "description", "default", "examples", "example", "$comment", "readOnly", "writeOnly", "deprecated"};
  return among(kAnnotations, key) || (key.starts_with("x-") && key != "x-mcp-header");
}

// The members of these are named by the author: a property may be called `title`.
bool holds_named_schemas(std::string_view key) {
  static constexpr std::array<std::string_view, 6> kNamed = {"properties",  "patternProperties", "$defs",
                                                             "definitions", "dependentSchemas",  "dependencies"};
  return among(kNamed, key);
}

// An encoded segment may be any name.
bool leads_into_annotations(std::string_view reference) {
  const auto fragment = reference.find('#');
  if (fragment == std::string_view::npos) return false;
  std::string_view rest = reference.substr(fragment + 1);
  while (!rest.empty()) {
    const std::string_view segment = rest.substr(0, rest.find('/'));
    if (is_annotation(segment) || segment.contains('%')) return true;
    rest.remove_prefix(std::min(rest.size(), segment.size() + 1));
  }
  return false;
}

}  // namespace

value without_annotations(const value& schema) {
  if (const auto* elements = schema.if_array()) {
    array out;
    out.reserve(elements->size());
    for (const auto& element : *elements)
      out.push_back(without_annotations(element));
    return out;
  }
  const auto* members = schema.if_object();
  if (members == nullptr) return schema;
  object out;
  for (const auto& [key, inner] : *members) {
    if (is_annotation(key)) continue;
    if (key == "const" || key == "enum") {
      out.emplace(key, inner);
    } else if (holds_named_schemas(key) && inner.is_object()) {
      object named;
      for (const auto& [name, one] : inner.get_object())
        named.emplace(name, without_annotations(one));
      out.emplace(key, std::move(named));
    } else {
      out.emplace(key, without_annotations(inner));
    }
  }
  return out;
}

bool refers_to_annotations(const value& schema) {
  if (const auto* elements = schema.if_array()) return std::ranges::any_of(*elements, refers_to_annotations);
  const auto* members = schema.if_object();
  if (members == nullptr) return false;
  return std::ranges::any_of(*members, [](const auto& member) {
    const auto* text = member.value().if_string();
    if (text == nullptr) return refers_to_annotations(member.value());
    return (member.key() == "$ref" || member.key() == "$dynamicRef") && leads_into_annotations(*text);
  });
}

bool inverts(const value& schema) {
  static constexpr std::array<std::string_view, 9> kInverting = {"not",
                                                                 "if",
                                                                 "oneOf",
                                                                 "contains",
                                                                 "unevaluatedProperties",
                                                                 "unevaluatedItems",
                                                                 "$dynamicRef",
                                                                 "dependentSchemas",
                                                                 "dependencies"};
  if (const auto* elements = schema.if_array()) return std::ranges::any_of(*elements, inverts);
  const auto* members = schema.if_object();
  if (members == nullptr) return false;
  return std::ranges::any_of(
      *members, [](const auto& member) { return among(kInverting, member.key()) || inverts(member.value()); });
}

}  // namespace proteus::catalog
