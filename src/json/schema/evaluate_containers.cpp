#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "json/schema/equality.hpp"
#include "json/schema/evaluate.hpp"
#include "json/schema/explain.hpp"

namespace proteus::json::schema {
namespace {

Path below(const Path& path, std::string_view name) {
  return {.parent = &path, .name = name, .index = 0, .is_index = false};
}

Path below(const Path& path, std::size_t index) {
  return {.parent = &path, .name = {}, .index = index, .is_index = true};
}

}  // namespace

// Looking up a name costs as much as hashing it.
bool Evaluator::has(const boost::json::object& object, std::string_view name) {
  return spend(1 + name.size() / 16) && object.contains(name);
}

bool Evaluator::check(const RequiredRule& rule, Frame& frame) {
  const auto* object = frame.instance.if_object();
  if (object == nullptr) return true;
  bool ok = true;
  for (const std::string& name : rule.names) {
    if (has(*object, name)) continue;
    ok = fail(frame.path, "required",
              [&] { return fmt::format("missing required property {}", explain::quoted(name, 100)); });
    if (enough()) return false;
  }
  return ok;
}

bool Evaluator::check(const DependentRequiredRule& rule, Frame& frame) {
  const auto* object = frame.instance.if_object();
  if (object == nullptr) return true;
  bool ok = true;
  for (const auto& [present, names] : rule.names) {
    if (!has(*object, present)) continue;
    for (const std::string& name : names) {
      if (has(*object, name)) continue;
      ok = fail(frame.path, rule.keyword, [&] {
        return fmt::format("missing property {}, required because {} is present", explain::quoted(name, 100),
                           explain::quoted(present, 100));
      });
      if (enough()) return false;
    }
  }
  return ok;
}

bool Evaluator::check(const DependentSchemasRule& rule, Frame& frame) {
  const auto* object = frame.instance.if_object();
  if (object == nullptr) return true;
  bool ok = true;
  for (const auto& [present, schema] : rule.schemas) {
    if (!has(*object, present) || in_place(schema, frame)) continue;
    ok = false;
    if (enough()) return false;
  }
  return ok;
}

bool Evaluator::check(const PropertiesRule& rule, Frame& frame) {
  const auto* object = frame.instance.if_object();
  if (object == nullptr) return true;
  bool ok = true;
  for (std::size_t position = 0; position < object->size(); ++position) {
    if (member(rule, position, frame)) continue;
    ok = false;
    if (enough()) return false;
  }
  return ok;
}

bool Evaluator::member(const PropertiesRule& rule, std::size_t position, Frame& frame) {
  const auto& object = frame.instance.get_object();
  const auto& [key, value] = object.begin()[position];
  const std::string_view name = key;
  const Path path = below(frame.path, name);
  bool ok = spend(1 + name.size() / 64);
  bool known = false;
  const auto apply = [&](NodeId schema) {
    known = true;
    ok = node(schema, value, path, nullptr) && ok;
  };
  const auto named = std::ranges::lower_bound(rule.named, name, {}, &std::pair<std::string, NodeId>::first);
  if (named != rule.named.end() && named->first == name) apply(named->second);
  for (const auto& [pattern, schema] : rule.patterns) {
    if (!ok && enough()) return false;
    if (matches(*pattern, name)) apply(schema);
  }
  if (!known && rule.additional) {
    if (program_.nodes[*rule.additional].never) {
      ok = fail(frame.path, "additionalProperties", [&] {
        std::vector<std::string_view> allowed;
        for (const std::uint32_t written : rule.written) {
          const auto& [other, schema] = rule.named[written];
          if (!program_.nodes[schema].never) allowed.emplace_back(other);
        }
        spend(kSuggestionWork + allowed.size());
        return explain::unknown_property(name, allowed, object);
      });
      known = true;
    } else {
      apply(*rule.additional);
    }
  }
  // Counts as evaluated even if it failed: the schema fails anyway, and an additional "unevaluated" error would
  // mislead.
  if (known && frame.seen != nullptr) frame.seen->add(position);
  return ok;
}

bool Evaluator::check(const PropertyNamesRule& rule, Frame& frame) {
  const auto* object = frame.instance.if_object();
  if (object == nullptr) return true;
  bool ok = true;
  for (const auto& member : *object) {
    if (!spend(1 + member.key().size() / 64)) return false;
    const boost::json::value name(member.key());
    {
      const Collecting quietly(*this, nullptr, 0);
      if (node(rule.schema, name, frame.path, nullptr)) continue;
    }
    ok = fail(frame.path, "propertyNames", [&] {
      const auto why = faults(rule.schema, name, frame.path);
      return fmt::format("property name {} is not allowed{}{}", explain::quoted(member.key(), 100),
                         why.empty() ? "" : ": ", why.empty() ? "" : why.front().message);
    });
    if (enough()) return false;
  }
  return ok;
}

bool Evaluator::check(const ItemsRule& rule, Frame& frame) {
  const auto* array = frame.instance.if_array();
  if (array == nullptr) return true;
  bool ok = true;
  for (std::size_t i = 0; i < array->size(); ++i) {
    if (i >= rule.prefix.size() && !rule.rest) break;
    const NodeId schema = i < rule.prefix.size() ? rule.prefix[i] : *rule.rest;
    if (frame.seen != nullptr) frame.seen->add(i);
    if (i >= rule.prefix.size() && program_.nodes[schema].never) {
      return fail(frame.path, rule.rest_keyword,
                  [&] { return fmt::format("must have at most {} items, not {}", rule.prefix.size(), array->size()); });
    }
    if (node(schema, (*array)[i], below(frame.path, i), nullptr)) continue;
    ok = false;
    if (enough()) return false;
  }
  return ok;
}

bool Evaluator::check(const ContainsRule& rule, Frame& frame) {
  const auto* array = frame.instance.if_array();
  if (array == nullptr) return true;
  std::uint64_t found = 0;
  {
    const Collecting quietly(*this, nullptr, 0);
    for (std::size_t i = 0; i < array->size() && !stopped(); ++i) {
      if (!node(rule.schema, (*array)[i], below(frame.path, i), nullptr)) continue;
      ++found;
      if (frame.seen != nullptr) {
        frame.seen->add(i);
      } else if (found >= rule.at_least && !rule.at_most) {
        return true;
      }
    }
  }
  if (found < rule.at_least) {
    return fail(frame.path, "contains", [&] {
      std::string message = fmt::format("must contain at least {} matching item{}, has {}", rule.at_least,
                                        rule.at_least == 1 ? "" : "s", found);
      if (found == 0 && !array->empty()) {
        const auto why = faults(rule.schema, array->front(), frame.path);
        if (!why.empty()) message += "; item 0: " + why.front().message;
      }
      return message;
    });
  }
  if (!rule.at_most || found <= *rule.at_most) return true;
  return fail(frame.path, "maxContains",
              [&] { return fmt::format("must contain at most {} matching items, has {}", *rule.at_most, found); });
}

bool Evaluator::check(const UniqueRule&, Frame& frame) {
  const auto* array = frame.instance.if_array();
  if (array == nullptr || array->size() < 2) return true;
  std::vector<std::pair<std::uint64_t, std::size_t>> by_hash;
  by_hash.reserve(array->size());
  std::size_t work = array->size();
  for (const auto& item : *array)
    by_hash.emplace_back(hash(item, work), by_hash.size());
  if (!spend(work)) return false;
  std::ranges::sort(by_hash);
  for (std::size_t i = 0; i < by_hash.size(); ++i) {
    for (std::size_t j = i + 1; j < by_hash.size() && by_hash[j].first == by_hash[i].first; ++j) {
      work = 0;
      const bool same = equal((*array)[by_hash[i].second], (*array)[by_hash[j].second], work);
      if (!spend(work)) return false;
      if (!same) continue;
      return fail(frame.path, "uniqueItems", [&] {
        return fmt::format("items must differ from each other, but items {} and {} are equal", by_hash[i].second,
                           by_hash[j].second);
      });
    }
  }
  return true;
}

bool Evaluator::check(const UnevaluatedRule& rule, Frame& frame) {
  // The set of evaluated members is only known if all schemas applied to the same value have passed.
  if (!frame.applied) return true;
  if (rule.container == Type::object && frame.instance.is_object()) return unevaluated_properties(rule, frame);
  if (rule.container == Type::array && frame.instance.is_array()) return unevaluated_items(rule, frame);
  return true;
}

bool Evaluator::unevaluated_properties(const UnevaluatedRule& rule, Frame& frame) {
  const auto& object = frame.instance.get_object();
  bool ok = spend(object.size());
  for (std::size_t i = 0; i < object.size(); ++i) {
    if (!ok && enough()) return false;
    if (frame.seen->has(i)) continue;
    const auto& [key, value] = object.begin()[i];
    if (!program_.nodes[rule.schema].never) {
      ok = node(rule.schema, value, below(frame.path, key), nullptr) && ok;
      continue;
    }
    ok = fail(frame.path, "unevaluatedProperties", [&] {
      const auto known = explain::known_properties(program_, frame.id);
      spend(kSuggestionWork + known.size());
      return explain::unknown_property(key, known, object);
    });
  }
  frame.seen->add_all();
  return ok;
}

bool Evaluator::unevaluated_items(const UnevaluatedRule& rule, Frame& frame) {
  const auto& array = frame.instance.get_array();
  bool ok = spend(array.size());
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (!ok && enough()) return false;
    if (frame.seen->has(i)) continue;
    ok = node(rule.schema, array[i], below(frame.path, i), nullptr) && ok;
  }
  frame.seen->add_all();
  return ok;
}

}  // namespace proteus::json::schema
