// Traverses two schemas: equality, messages, and the keywords that contain schemas.
#include "catalog/pins/narrowing.hpp"

#include <algorithm>
#include <array>

#include <boost/json/array.hpp>
#include <boost/json/string.hpp>

#include "catalog/pins/schema_keywords.hpp"
#include "json/canonical.hpp"

namespace proteus::catalog {
namespace {

constexpr std::size_t kMaxReasons = 16;
constexpr std::size_t kMaxBranches = 64;

}  // namespace

std::vector<std::string> Narrowing::take() {
  if (spent()) reasons_.assign(1, "the schemas are too large to be compared: cannot be shown to be compatible");
  return std::move(reasons_);
}

void Narrowing::compare(const value& from, const value& to) {
  ++cost_.steps;
  if (done() || equal(from, to)) return;
  if (const bool* all = to.if_bool()) {
    const bool* none = from.if_bool();
    if (!*all && (none == nullptr || *none)) say("nothing is accepted any more", "anything may come now");
    return;
  }
  if (const bool* all = from.if_bool()) {
    if (*all) compare_objects({}, to.is_object() ? to.get_object() : object{});
    return;
  }
  if (!from.is_object() || !to.is_object()) return unknown("the schema");
  compare_objects(from.get_object(), to.get_object());
}

bool Narrowing::equal(const value& a, const value& b) {
  ++cost_.work;
  if (spent()) return true;
  if (const auto* text = a.if_string()) cost_.work += text->size() / kTextOfOne;
  if (a.is_array() && b.is_array()) {
    return std::ranges::equal(a.get_array(), b.get_array(),
                              [this](const value& x, const value& y) { return equal(x, y); });
  }
  if (!a.is_object() || !b.is_object()) return a == b;
  if (a.get_object().size() != b.get_object().size()) return false;
  return std::ranges::all_of(a.get_object(), [&](const auto& member) {
    cost_.work += member.key().size() / kTextOfOne;
    const value* const other = b.get_object().if_contains(member.key());
    return other != nullptr && equal(member.value(), *other);
  });
}

std::string Narrowing::canonical(const value& what) {
  std::string text = json::canonical(what);
  cost_.work += 1 + text.size() / kTextOfOne;
  return text;
}
std::string Narrowing::shown(const value& what) {
  constexpr std::size_t kLongest = 60;
  return log::printable(canonical(what), kLongest);
}

void Narrowing::say(std::string_view as_input, std::string_view as_output) {
  if (reasons_.size() == kMaxReasons) return;
  const std::string_view what = direction_ == SchemaOf::input ? as_input : as_output;
  const std::string_view side = direction_ == SchemaOf::input ? "input" : "output";
  std::string text = path_.empty() ? fmt::format("{}: {}", side, what) : fmt::format("{} {}: {}", side, path_, what);
  if (std::ranges::find(reasons_, text) == reasons_.end()) reasons_.push_back(std::move(text));
}
void Narrowing::unknown(std::string_view keyword) {
  const std::string text = fmt::format("{} changed: cannot be shown to be compatible", keyword);
  say(text, text);
}

void Narrowing::compare(const object& from, const value& to) {
  ++cost_.steps;
  if (done()) return;
  if (const bool* all = to.if_bool()) {
    if (!*all) say("nothing is accepted any more", "anything may come now");
  } else if (to.is_object()) {
    compare_objects(from, to.get_object());
  } else {
    unknown("the schema");
  }
}

const boost::json::object& Narrowing::object_at(const object& schema, std::string_view key) {
  static const object none;
  const value* const found = schema.if_contains(key);
  return found != nullptr && found->is_object() ? found->get_object() : none;
}

void Narrowing::compare_objects(const object& from, const object& to) {
  cost_.work += from.size() + to.size();
  compare_types(from, to);
  compare_values(from, to);
  compare_bounds(from, to);
  compare_properties(from, to);
  compare_items(from, to);
  compare_alternatives(from, to);
  compare_conjunction(from, to);
  compare_definitions(from, to);
  compare_rest(from, to);
}

void Narrowing::compare_alternatives(const object& from, const object& to) {
  const value* const is = to.if_contains("anyOf");
  const value* const was = from.if_contains("anyOf");
  if (is == nullptr || same(is, was)) return;
  if (!is->is_array() || is->get_array().size() > kMaxBranches) return unknown("anyOf");
  const auto fits = [&](const auto& branch) {
    return std::ranges::any_of(is->get_array(), [&](const value& now) { return accepts_all(branch, now); });
  };
  if (was == nullptr) {
    if (!fits(from)) unknown("anyOf");
    return;
  }
  if (!was->is_array() || was->get_array().size() > kMaxBranches) return unknown("anyOf");
  for (const auto& branch : was->get_array()) {
    if (!fits(branch)) {
      say(fmt::format("the alternative {} is no longer accepted", shown(branch)),
          fmt::format("the alternative {} may come now", shown(branch)));
    }
  }
}

void Narrowing::compare_conjunction(const object& from, const object& to) {
  const value* const is = to.if_contains("allOf");
  const value* const was = from.if_contains("allOf");
  if (is == nullptr || same(is, was)) return;
  const bool comparable =
      is->is_array() && was != nullptr && was->is_array() && is->get_array().size() == was->get_array().size();
  if (!comparable) return unknown("allOf");
  for (std::size_t i = 0; i < is->get_array().size(); ++i)
    compare(was->get_array()[i], is->get_array()[i]);
}

void Narrowing::compare_definitions(const object& from, const object& to) {
  for (const std::string_view key : {"$defs", "definitions"}) {
    const value* const is = to.if_contains(key);
    const value* const was = from.if_contains(key);
    if (same(is, was)) continue;
    const object& now = object_at(to, key);
    for (const auto& [name, schema] : object_at(from, key)) {
      const value* const other = now.if_contains(name);
      if (other == nullptr) {
        unknown(key);
        break;
      }
      below(name, [&, &definition = schema] {
        const std::size_t before = reasons_.size();
        compare(definition, *other);
        if (equal(definition, *other) || reasons_.size() > before || !inverted_) return;
        if (!accepts_all(*other, definition)) unknown(key);
      });
    }
  }
}

void Narrowing::compare_rest(const object& from, const object& to) {
  static constexpr std::array<std::string_view, 26> kUnderstood = {"type",
                                                                   "const",
                                                                   "enum",
                                                                   "minimum",
                                                                   "exclusiveMinimum",
                                                                   "minLength",
                                                                   "minItems",
                                                                   "minProperties",
                                                                   "maximum",
                                                                   "exclusiveMaximum",
                                                                   "maxLength",
                                                                   "maxItems",
                                                                   "maxProperties",
                                                                   "multipleOf",
                                                                   "pattern",
                                                                   "format",
                                                                   "x-mcp-header",
                                                                   "uniqueItems",
                                                                   "properties",
                                                                   "required",
                                                                   "additionalProperties",
                                                                   "items",
                                                                   "anyOf",
                                                                   "allOf",
                                                                   "$defs",
                                                                   "definitions"};
  const auto check = [&](const object& one, const object& other) {
    for (const auto& member : one) {
      const std::string_view key = member.key();
      if (!among(kUnderstood, key) && !same(&member.value(), other.if_contains(key))) unknown(log::printable(key, 60));
    }
  };
  check(from, to);
  check(to, from);
}

}  // namespace proteus::catalog
