#include "catalog/pins/schema_change.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "catalog/pins/schema_keywords.hpp"
#include "json/canonical.hpp"

namespace proteus::catalog {
namespace {

using boost::json::object;
using boost::json::value;

// Pairs of schemas, and what is looked at in them: values, and 64 bytes of text each. Both schemas are a stranger's,
// and alternatives within alternatives would multiply.
constexpr std::size_t kMaxSteps = 20'000;
constexpr std::size_t kMaxWork = 1'000'000;
constexpr std::size_t kTextOfOne = 64;
constexpr std::size_t kMaxReasons = 16;
constexpr std::size_t kMaxBranches = 64;

std::optional<double> number_of(const value* of) {
  if (of == nullptr || !of->is_number()) return std::nullopt;
  return of->to_number<double>();
}

// Looks for values that `from` accepts and `to` may not. For input `from` is the old schema, for output the new one.
// `inverted`: somewhere in there a wider definition may mean less.
class Narrowing {
 public:
  Narrowing(SchemaOf direction, bool inverted) : direction_(direction), inverted_(inverted) {}

  std::vector<std::string> take() {
    if (spent()) reasons_.assign(1, "the schemas are too large to be compared: cannot be shown to be compatible");
    return std::move(reasons_);
  }

  void compare(const value& from, const value& to) {
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

 private:
  bool spent() const { return cost_.steps > kMaxSteps || cost_.work > kMaxWork; }
  // Nothing more needs to be found out.
  bool done() const { return spent() || (wanted_ == Wanted::whether && !reasons_.empty()); }

  // Whatever is looked at is paid for. Where nothing is left to pay with, the outcome no longer matters.
  bool equal(const value& a, const value& b) {
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
      const value* const other = b.get_object().if_contains(member.key());
      return other != nullptr && equal(member.value(), *other);
    });
  }
  bool same(const value* a, const value* b) { return a == nullptr || b == nullptr ? a == b : equal(*a, *b); }

  std::string canonical(const value& what) {
    std::string text = json::canonical(what);
    cost_.work += 1 + text.size() / kTextOfOne;
    return text;
  }
  std::string shown(const value& what) {
    constexpr std::size_t kLongest = 60;
    return log::printable(canonical(what), kLongest);
  }

  // `as_input` says it where old is `from`; `as_output` where old is `to`.
  void say(std::string_view as_input, std::string_view as_output) {
    if (reasons_.size() == kMaxReasons) return;
    const std::string_view what = direction_ == SchemaOf::input ? as_input : as_output;
    const std::string_view side = direction_ == SchemaOf::input ? "input" : "output";
    std::string text = path_.empty() ? fmt::format("{}: {}", side, what) : fmt::format("{} {}: {}", side, path_, what);
    if (std::ranges::find(reasons_, text) == reasons_.end()) reasons_.push_back(std::move(text));
  }
  void unknown(std::string_view keyword) {
    const std::string text = fmt::format("{} changed: cannot be shown to be compatible", keyword);
    say(text, text);
  }

  template <class Work>
  void below(std::string_view key, Work&& work) {
    const std::size_t length = path_.size();
    constexpr std::size_t kLongestPath = 400;
    if (length < kLongestPath) path_ += fmt::format("/{}", log::printable(key, 100));
    work();
    path_.resize(length);
  }

  // Whether `to` accepts all that `from` does; says nothing.
  template <class From>
  bool accepts_all(const From& from, const value& to) {
    Narrowing trial(direction_, inverted_);
    trial.wanted_ = Wanted::whether;
    trial.cost_ = cost_;
    trial.compare(from, to);
    cost_ = trial.cost_;
    return trial.reasons_.empty();
  }
  void compare(const object& from, const value& to) {
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

  void compare_objects(const object& from, const object& to) {
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

  std::set<std::string_view> types_of(const object& schema) {
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

  void compare_types(const object& from, const object& to) {
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

  static std::optional<std::span<const value>> values_of(const object& schema) {
    if (const value* const one = schema.if_contains("const")) return std::span(one, 1);
    const value* const several = schema.if_contains("enum");
    if (several != nullptr && several->is_array()) return std::span(several->get_array());
    return std::nullopt;
  }

  void compare_values(const object& from, const object& to) {
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
      say(fmt::format("the value {} is no longer accepted", shown(one)),
          fmt::format("the value {} is new", shown(one)));
    }
  }

  void compare_bounds(const object& from, const object& to) {
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

  template <class Within>
  void compare_bound(const object& from, const object& to, std::string_view key, Within&& within) {
    const value* const is = to.if_contains(key);
    const value* const was = from.if_contains(key);
    if (is == nullptr || same(is, was)) return;
    const auto bound = number_of(is);
    const auto old = number_of(was);
    if (!bound || (was != nullptr && !old)) return unknown(key);
    if (old && within(*old, *bound)) return;
    say(old ? fmt::format("{} is tightened from {} to {}", key, *old, *bound)
            : fmt::format("{} {} is new", key, *bound),
        old ? fmt::format("{} is loosened from {} to {}", key, *bound, *old)
            : fmt::format("{} {} is gone", key, *bound));
  }

  static const object& object_at(const object& schema, std::string_view key) {
    static const object none;
    const value* const found = schema.if_contains(key);
    return found != nullptr && found->is_object() ? found->get_object() : none;
  }

  std::set<std::string_view> required_of(const object& schema) {
    std::set<std::string_view> names;
    const value* const required = schema.if_contains("required");
    if (required == nullptr || !required->is_array()) return names;
    cost_.work += required->get_array().size();
    for (const auto& name : required->get_array()) {
      if (name.is_string()) names.insert(name.get_string());
    }
    return names;
  }

  void compare_properties(const object& from, const object& to) {
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
        // Nothing refuses it, but what it asked for may not be done. Of output, somebody who knew the old schema did
        // not know of it, or did without.
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

  void compare_items(const object& from, const object& to) {
    const value* const is = to.if_contains("items");
    const value* const was = from.if_contains("items");
    if (is == nullptr || same(is, was)) return;
    if (is->is_array() || (was != nullptr && was->is_array())) return unknown("items");
    if (was == nullptr) return say("items are restricted now", "items are no longer restricted");
    below("[]", [&] { compare(*was, *is); });
  }

  // Each alternative there was must fit into one that is.
  void compare_alternatives(const object& from, const object& to) {
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

  void compare_conjunction(const object& from, const object& to) {
    const value* const is = to.if_contains("allOf");
    const value* const was = from.if_contains("allOf");
    if (is == nullptr || same(is, was)) return;
    const bool comparable =
        is->is_array() && was != nullptr && was->is_array() && is->get_array().size() == was->get_array().size();
    if (!comparable) return unknown("allOf");
    for (std::size_t i = 0; i < is->get_array().size(); ++i)
      compare(was->get_array()[i], is->get_array()[i]);
  }

  // What a reference leads to. The references themselves must be the same, see `compare_rest`.
  void compare_definitions(const object& from, const object& to) {
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

  // Keywords that are nowhere above.
  void compare_rest(const object& from, const object& to) {
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
        if (!among(kUnderstood, key) && !same(&member.value(), other.if_contains(key)))
          unknown(log::printable(key, 60));
      }
    };
    check(from, to);
    check(to, from);
  }

  enum class Wanted : std::uint8_t { reasons, whether };  // there is one
  struct Cost {
    std::size_t steps = 0;
    std::size_t work = 0;
  };

  SchemaOf direction_;
  bool inverted_;
  Wanted wanted_ = Wanted::reasons;
  Cost cost_;
  std::string path_;
  std::vector<std::string> reasons_;
};

}  // namespace

std::vector<std::string> breaking_changes(const value& before, const value& after, SchemaOf direction) {
  const value old = without_annotations(before);
  const value now = without_annotations(after);
  if (old == now) return {};
  Narrowing narrowing(direction, inverts(old) || inverts(now));
  if (direction == SchemaOf::input) {
    narrowing.compare(old, now);
  } else {
    narrowing.compare(now, old);
  }
  return narrowing.take();
}

}  // namespace proteus::catalog
