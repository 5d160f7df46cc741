#include "providers/http_tool/input_schema.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

namespace proteus::providers {
namespace {

using boost::json::object;
using boost::json::value;

constexpr std::size_t kMaxNesting = 16;  // of schemas within schemas that are looked into for names

bool has(const object& schema, std::string_view key) { return schema.if_contains(key) != nullptr; }

bool is_draft7(const object& schema) {
  const value* const dialect = schema.if_contains("$schema");
  return dialect != nullptr && dialect->is_string() && dialect->get_string().find("draft-07") != std::string_view::npos;
}

// Puts a schema together of others that see the same object.
bool is_composed(const object& schema) {
  constexpr std::array kKeywords = {"allOf",       "anyOf",        "oneOf", "if",
                                    "then",        "else",         "$ref",  "dependentSchemas",
                                    "$dynamicRef", "dependencies", "not",   "$recursiveRef"};
  return std::ranges::any_of(kKeywords, [&](const char* keyword) { return has(schema, keyword); });
}

// What a reference within the document means; null for any other.
const object* resolve(const object& root, const value& reference) {
  if (!reference.is_string()) return nullptr;
  const std::string_view text = reference.get_string();
  if (!text.starts_with("#")) return nullptr;
  if (text == "#") return &root;
  const object* at = &root;
  std::string_view rest = text.substr(1);
  if (!rest.starts_with('/')) return nullptr;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view key = rest.substr(0, rest.find('/'));
    rest.remove_prefix(key.size());
    const value* const next = at->if_contains(key);
    if (next == nullptr || !next->is_object()) return nullptr;
    at = &next->get_object();
  }
  return at;
}

void collect(const object& root, const object& schema, std::set<std::string>& names, std::size_t depth) {
  if (depth > kMaxNesting) return;
  const auto into = [&](const value* sub) {
    if (sub != nullptr && sub->is_object()) collect(root, sub->get_object(), names, depth + 1);
  };
  if (const value* const properties = schema.if_contains("properties"); properties && properties->is_object()) {
    for (const auto& member : properties->get_object())
      names.emplace(member.key());
  }
  for (const char* const keyword : {"allOf", "anyOf", "oneOf"}) {
    const value* const all = schema.if_contains(keyword);
    if (all == nullptr || !all->is_array()) continue;
    for (const auto& each : all->get_array())
      into(&each);
  }
  for (const char* const keyword : {"if", "then", "else"})
    into(schema.if_contains(keyword));
  for (const char* const keyword : {"dependentSchemas", "dependencies"}) {
    const value* const by_name = schema.if_contains(keyword);
    if (by_name == nullptr || !by_name->is_object()) continue;
    for (const auto& member : by_name->get_object())
      into(&member.value());
  }
  if (const value* const reference = schema.if_contains("$ref")) {
    if (const object* const meant = resolve(root, *reference)) collect(root, *meant, names, depth + 1);
  }
}

}  // namespace

std::vector<std::string> named_arguments(const object& schema) {
  std::set<std::string> names;
  collect(schema, schema, names, 0);
  return {names.begin(), names.end()};
}

object closed_schema(const object& schema) {
  object closed = schema;
  if (has(schema, "additionalProperties") || has(schema, "unevaluatedProperties")) return closed;
  if (!is_composed(schema)) {
    closed["additionalProperties"] = false;
    return closed;
  }
  if (!is_draft7(schema)) {
    closed["unevaluatedProperties"] = false;
    return closed;
  }
  // Draft 7 cannot look into what a schema is put together of, and ignores what stands beside a reference.
  if (has(schema, "$ref")) return closed;
  object properties;
  if (const value* const own = schema.if_contains("properties"); own != nullptr && own->is_object())
    properties = own->get_object();
  for (const auto& name : named_arguments(schema)) {
    if (!properties.contains(name)) properties[name] = true;
  }
  closed["properties"] = std::move(properties);
  closed["additionalProperties"] = false;
  return closed;
}

}  // namespace proteus::providers
