#include "providers/http_tool/input_schema.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "json/schema/json_pointer.hpp"
#include "json/schema/uri.hpp"

namespace proteus::providers {
namespace {

using boost::json::object;
using boost::json::value;

bool has(const object& schema, std::string_view key) { return schema.if_contains(key) != nullptr; }

bool is_draft7(const object& schema) {
  const value* const dialect = schema.if_contains("$schema");
  return dialect != nullptr && dialect->is_string() && dialect->get_string().find("draft-07") != std::string_view::npos;
}

// Whether a schema is composed of others that see the same object.
bool is_composed(const object& schema) {
  constexpr std::array kKeywords = {"allOf",       "anyOf",        "oneOf", "if",
                                    "then",        "else",         "$ref",  "dependentSchemas",
                                    "$dynamicRef", "dependencies", "not",   "$recursiveRef"};
  return std::ranges::any_of(kKeywords, [&](const char* keyword) { return has(schema, keyword); });
}

// Returns what a reference within the document means; null for any other.
const object* resolve(const value& root, const value& reference) {
  if (!reference.is_string()) return nullptr;
  const auto [uri, fragment] = json::schema::split_fragment(reference.get_string());
  const auto decoded = json::schema::percent_decoded(fragment);
  if (!uri.empty() || !decoded || (!decoded->empty() && !decoded->starts_with('/'))) return nullptr;
  const value* at = &root;
  for (std::string_view pointer = *decoded; at != nullptr && !pointer.empty();) {
    const auto token = json::schema::take_pointer_token(pointer);
    at = token ? json::schema::step_into(*at, *token) : nullptr;
  }
  return at == nullptr ? nullptr : at->if_object();
}

// Collects the names of properties from a schema and from the schemas that it is composed of. References may form
// cycles and lead to the same schema many times, so each schema is read once.
class NameCollector {
 public:
  explicit NameCollector(const value& root) : root_(root) { add(&root); }

  std::set<std::string> collect() {
    while (!unread_.empty()) {
      const object& schema = *unread_.back();
      unread_.pop_back();
      read(schema);
    }
    return std::move(names_);
  }

 private:
  void add(const object* schema) {
    if (schema != nullptr && seen_.insert(schema).second) unread_.push_back(schema);
  }
  void add(const value* schema) {
    if (schema != nullptr) add(schema->if_object());
  }

  void read(const object& schema) {
    if (const value* const properties = schema.if_contains("properties"); properties && properties->is_object()) {
      for (const auto& member : properties->get_object())
        names_.emplace(member.key());
    }
    for (const char* const keyword : {"allOf", "anyOf", "oneOf"}) {
      const value* const all = schema.if_contains(keyword);
      if (all == nullptr || !all->is_array()) continue;
      for (const auto& each : all->get_array())
        add(&each);
    }
    for (const char* const keyword : {"if", "then", "else"})
      add(schema.if_contains(keyword));
    for (const char* const keyword : {"dependentSchemas", "dependencies"}) {
      const value* const by_name = schema.if_contains(keyword);
      if (by_name == nullptr || !by_name->is_object()) continue;
      for (const auto& member : by_name->get_object())
        add(&member.value());
    }
    if (const value* const reference = schema.if_contains("$ref")) add(resolve(root_, *reference));
  }

  const value& root_;
  std::set<std::string> names_;
  std::set<const object*> seen_;
  std::vector<const object*> unread_;
};

}  // namespace

std::vector<std::string> named_arguments(const value& schema) {
  const auto names = NameCollector(schema).collect();
  return {names.begin(), names.end()};
}

object closed_schema(const value& given) {
  const object& schema = given.get_object();
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
  // Draft 7 cannot look into what a schema is composed of, and ignores what is next to a reference.
  if (has(schema, "$ref")) return closed;
  object properties;
  if (const value* const own = schema.if_contains("properties"); own != nullptr && own->is_object())
    properties = own->get_object();
  for (const auto& name : named_arguments(given)) {
    if (!properties.contains(name)) properties[name] = true;
  }
  closed["properties"] = std::move(properties);
  closed["additionalProperties"] = false;
  return closed;
}

}  // namespace proteus::providers
