// The keywords that constrain one value: types, values, bounds, properties and items.
#include <array>
#include <cmath>

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>

#include "catalog/pins/narrowing.hpp"

namespace proteus::catalog {
namespace {

using boost::json::object;
using boost::json::value;

std::optional<double> number_of(const value* of) {
  if (of == nullptr || !of->is_number()) return std::nullopt;
  return of->to_number<double>();
}

std::optional<std::span<const value>> values_of(const object& schema) {
  if (const value* const one = schema.if_contains("const")) return std::span(one, 1);
  const value* const several = schema.if_contains("enum");
  if (several != nullptr && several->is_array()) return std::span(several->get_array());
  return std::nullopt;
}

}  // namespace

std::set<std::string_view> Narrowing::types_of(const object& schema) {
  const value* const type = schema.if_contains("type");
  if (type == nullptr) return {"array", "boolean", "integer", "null", "number", "object", "string"};
  std::set<std::string_view> types;
  if (type->is_string()) types.insert(type->get_string());
  if (type->is_array()) {
    cost_.work += type->get_array().size();
    for (const auto& element : type->get_array()) {
      if (element.is_string()) types.insert(element.get_string());
    }
  }
  if (types.contains("number")) types.insert("integer");
  return types;
}

void Narrowing::compare_types(const object& from, const object& to) {
  if (!to.contains("type")) return;
  const auto accepted = types_of(to);
  for (const std::string_view type : types_of(from)) {
    if (accepted.contains(type)) continue;
    const value* const was = from.if_contains("type");
    const std::string wide = was == nullptr ? "any type" : shown(*was);
    say(fmt::format("the type is narrowed from {} to {}", wide, shown(to.at("type"))),
        fmt::format("the type is widened from {} to {}", shown(to.at("type")), wide));
    return;
  }
}

void Narrowing::compare_values(const object& from, const object& to) {
  const auto accepted = values_of(to);
  if (!accepted) return;
  const auto offered = values_of(from);
  if (!offered) {
    return say("only certain values are accepted now", "other values than the listed ones may come now");
  }
  std::set<std::string> known;
  for (const auto& one : *accepted)
    known.insert(canonical(one));
  for (const auto& one : *offered) {
    if (done()) return;
    if (known.contains(canonical(one))) continue;
    say(fmt::format("the value {} is no longer accepted", shown(one)), fmt::format("the value {} is new", shown(one)));
  }
}

template <class Within>
void Narrowing::compare_bound(const object& from, const object& to, std::string_view key, Within&& within) {
  const value* const is = to.if_contains(key);
  const value* const was = from.if_contains(key);
  if (is == nullptr || same(is, was)) return;
  const auto bound = number_of(is);
  const auto old = number_of(was);
  if (!bound || (was != nullptr && !old)) return unknown(key);
  if (old && within(*old, *bound)) return;
  say(old ? fmt::format("{} is tightened from {} to {}", key, *old, *bound) : fmt::format("{} {} is new", key, *bound),
      old ? fmt::format("{} is loosened from {} to {}", key, *bound, *old) : fmt::format("{} {} is gone", key, *bound));
}

void Narrowing::compare_bounds(const object& from, const object& to) {
  static constexpr std::array<std::string_view, 5> kLower = {"minimum", "exclusiveMinimum", "minLength", "minItems",
                                                             "minProperties"};
  static constexpr std::array<std::string_view, 5> kUpper = {"maximum", "exclusiveMaximum", "maxLength", "maxItems",
                                                             "maxProperties"};
  for (const std::string_view key : kLower)
    compare_bound(from, to, key, [](double was, double is) { return is <= was; });
  for (const std::string_view key : kUpper)
    compare_bound(from, to, key, [](double was, double is) { return is >= was; });
  compare_bound(from, to, "multipleOf", [](double was, double is) { return is > 0 && std::fmod(was, is) == 0; });
  for (const std::string_view key : {"pattern", "format", "x-mcp-header"}) {
    const value* const is = to.if_contains(key);
    const value* const was = from.if_contains(key);
    if (key == "x-mcp-header" ? same(is, was) : (is == nullptr || same(is, was))) continue;
    const std::string_view how = was == nullptr ? "is new" : is == nullptr ? "is gone" : "changed";
    const std::string_view reverse = was == nullptr ? "is gone" : how;
    say(fmt::format("{} {}", key, how), fmt::format("{} {}", key, reverse));
  }
  const auto unique = [](const object& schema) {
    const value* const flag = schema.if_contains("uniqueItems");
    return flag != nullptr && flag->is_bool() && flag->get_bool();
  };
  if (unique(to) && !unique(from)) say("items must be unique now", "items may come twice now");
}

std::set<std::string_view> Narrowing::required_of(const object& schema) {
  std::set<std::string_view> names;
  const value* const required = schema.if_contains("required");
  if (required == nullptr || !required->is_array()) return names;
  cost_.work += required->get_array().size();
  for (const auto& name : required->get_array()) {
    if (name.is_string()) names.insert(name.get_string());
  }
  return names;
}

void Narrowing::compare_properties(const object& from, const object& to) {
  const auto was_required = required_of(from);
  for (const std::string_view name : required_of(to)) {
    if (was_required.contains(name)) continue;
    const std::string printable = log::printable(name, 100);
    say(fmt::format("{} is required now", printable), fmt::format("{} may be missing now", printable));
  }

  const object& described = object_at(to, "properties");
  const object& known = object_at(from, "properties");
  static const value anything = true;
  const value* const rest = to.if_contains("additionalProperties");
  const value* const unnamed = rest != nullptr ? rest : to.if_contains("unevaluatedProperties");
  cost_.work += known.size() + described.size();
  for (const auto& [name, schema] : known) {
    const value* const now = described.if_contains(name);
    below(name, [&, &property = schema] {
      if (now != nullptr) return compare(property, *now);
      const bool* const open = unnamed == nullptr ? anything.if_bool() : unnamed->if_bool();
      if (open == nullptr) return compare(property, *unnamed);
      if (!*open) return say("the property is no longer accepted", "the property may come now, and was excluded");
      // An input with this property is not rejected, but what it asks for may no longer be done. An output property
      // that the old schema did not describe harms no caller.
      if (direction_ == SchemaOf::input) say("the property was removed", {});
    });
  }

  const value* const was_rest = from.if_contains("additionalProperties");
  if (was_rest != nullptr && was_rest->is_object()) {
    for (const auto& [name, schema] : described) {
      if (!known.contains(name)) below(name, [&, &property = schema] { compare(*was_rest, property); });
    }
  }
  if (rest == nullptr || same(rest, was_rest)) return;
  const value& before = was_rest == nullptr ? anything : *was_rest;
  const bool* const closed = rest->if_bool();
  if (closed != nullptr) {
    const bool* const was_closed = before.if_bool();
    if (!*closed && (was_closed == nullptr || *was_closed)) {
      say("properties it does not name are no longer accepted", "properties it does not name may come now");
    }
    return;
  }
  below("*", [&] { compare(before, *rest); });
}

void Narrowing::compare_items(const object& from, const object& to) {
  const value* const is = to.if_contains("items");
  const value* const was = from.if_contains("items");
  if (is == nullptr || same(is, was)) return;
  if (is->is_array() || (was != nullptr && was->is_array())) return unknown("items");
  if (was == nullptr) return say("items are restricted now", "items are no longer restricted");
  below("[]", [&] { compare(*was, *is); });
}

}  // namespace proteus::catalog
