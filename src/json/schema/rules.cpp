#include <algorithm>
#include <limits>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/schema/compile.hpp"
#include "json/schema/equality.hpp"

namespace proteus::json::schema {
namespace {

// Up to this many values, comparing one by one is as fast as hashing.
constexpr std::size_t kHashedValues = 16;

std::optional<Type> type_named(std::string_view name) {
  if (name == "null") return Type::null;
  if (name == "boolean") return Type::boolean;
  if (name == "object") return Type::object;
  if (name == "array") return Type::array;
  if (name == "number") return Type::number;
  if (name == "string") return Type::string;
  if (name == "integer") return Type::integer;
  return std::nullopt;
}

// Copies the value to the default memory, because the program may outlive the memory resource of the document.
boost::json::value own_copy(const boost::json::value& value) {
  return boost::json::value(value, boost::json::storage_ptr());
}

}  // namespace

void Compiler::compile_rules() {
  members("$defs");
  members("definitions");
  if (place_->dialect.draft == Draft::draft7 && find("$ref") != nullptr) return references();
  if (place_->dialect.assertions) assertions();
  if (place_->dialect.applicators) {
    properties();
    items();
    contains();
  }
  references();
  if (place_->dialect.applicators) branches();
  if (place_->dialect.assertions || place_->dialect.applicators) dependencies();
  if (place_->dialect.unevaluated) unevaluated();
}

void Compiler::assertions() {
  type();
  values();
  bound("minimum", Relation::at_least);
  bound("exclusiveMinimum", Relation::more_than);
  bound("maximum", Relation::at_most);
  bound("exclusiveMaximum", Relation::less_than);
  multiple();
  count("minLength", Type::string, Relation::at_least);
  count("maxLength", Type::string, Relation::at_most);
  if (const auto* value = find("pattern")) {
    if (!value->is_string()) return fail("pattern", "must be a string");
    if (auto compiled = pattern("pattern", value->get_string())) add(PatternRule{std::move(compiled)});
  }
  count("minItems", Type::array, Relation::at_least);
  count("maxItems", Type::array, Relation::at_most);
  if (const auto* value = find("uniqueItems")) {
    if (!value->is_bool()) return fail("uniqueItems", "must be a boolean");
    if (value->get_bool()) add(UniqueRule{});
  }
  count("minProperties", Type::object, Relation::at_least);
  count("maxProperties", Type::object, Relation::at_most);
  required();
}

void Compiler::type() {
  const auto* value = find("type");
  if (value == nullptr) return;
  TypeRule rule;
  const auto take = [&](const boost::json::value& name) {
    const auto named = name.is_string() ? type_named(name.get_string()) : std::nullopt;
    if (!named)
      return fail("type", "must be null, boolean, object, array, number, string or integer, or a list of them");
    rule.allowed.add(*named);
  };
  if (const auto* list = value->if_array()) {
    if (list->empty()) return fail("type", "must not be an empty list");
    for (const auto& name : *list)
      take(name);
  } else {
    take(*value);
  }
  add(rule);
}

void Compiler::values() {
  if (const auto* value = find("const")) {
    ValuesRule rule{.keyword = "const", .values = {}, .by_hash = {}};
    rule.values.push_back(own_copy(*value));
    add(std::move(rule));
  }
  const auto* value = find("enum");
  if (value == nullptr) return;
  const auto* list = value->if_array();
  if (list == nullptr) return fail("enum", "must be an array");
  ValuesRule rule{.keyword = "enum", .values = {}, .by_hash = {}};
  for (const auto& item : *list)
    rule.values.push_back(own_copy(item));
  if (list->size() > kHashedValues) {
    std::size_t unused = 0;
    for (const auto& item : *list) {
      rule.by_hash.emplace_back(hash(item, unused), static_cast<std::uint32_t>(rule.by_hash.size()));
    }
    std::ranges::sort(rule.by_hash);
  }
  add(std::move(rule));
}

void Compiler::bound(std::string_view keyword, Relation relation) {
  const auto* value = find(keyword);
  if (value == nullptr) return;
  const auto limit = as_number(*value);
  if (!limit) return fail(keyword, "must be a number");
  add(BoundRule{keyword, relation, *limit});
}

void Compiler::multiple() {
  const auto* value = find("multipleOf");
  if (value == nullptr) return;
  const auto divisor = as_number(*value);
  const Number zero = std::int64_t{0};
  if (!divisor || !(compare(*divisor, zero) > 0)) return fail("multipleOf", "must be a number greater than 0");
  add(MultipleRule{*divisor});
}

std::optional<std::uint64_t> Compiler::count_value(std::string_view keyword) {
  const auto* value = find(keyword);
  if (value == nullptr) return std::nullopt;
  const auto number = as_number(*value);
  const Number zero = std::int64_t{0};
  if (!number || !is_integer(*number) || compare(*number, zero) < 0) {
    fail(keyword, "must be a whole number, 0 or more");
    return std::nullopt;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&*number)) return static_cast<std::uint64_t>(*whole);
  // No value has so many characters, items or members that a larger limit would make a difference.
  return std::numeric_limits<std::uint64_t>::max();
}

void Compiler::count(std::string_view keyword, Type counted, Relation relation) {
  if (const auto limit = count_value(keyword)) add(CountRule{keyword, counted, relation, *limit});
}

std::vector<std::string> Compiler::names(std::string_view keyword, const boost::json::value& list) {
  std::vector<std::string> result;
  const auto* array = list.if_array();
  if (array == nullptr || !std::ranges::all_of(*array, [](const auto& item) { return item.is_string(); })) {
    fail(keyword, "must be a list of property names");
    return result;
  }
  for (const auto& item : *array)
    result.emplace_back(item.get_string());
  return result;
}

void Compiler::required() {
  if (const auto* value = find("required")) add(RequiredRule{names("required", *value)});
}

void Compiler::properties() {
  PropertiesRule rule;
  bool any = false;
  if (const auto* named = members("properties")) {
    any = true;
    for (const auto& member : *named)
      rule.named.emplace_back(member.key(), node_for(member.value()));
    std::ranges::sort(rule.named);
    for (const auto& member : *named) {
      const auto at = std::ranges::lower_bound(rule.named, member.key(), {}, &std::pair<std::string, NodeId>::first);
      rule.written.push_back(static_cast<std::uint32_t>(at - rule.named.begin()));
    }
  }
  if (const auto* patterns = members("patternProperties")) {
    any = true;
    for (const auto& member : *patterns) {
      auto compiled = pattern("patternProperties", member.key());
      if (compiled == nullptr) return;
      rule.patterns.emplace_back(std::move(compiled), node_for(member.value()));
    }
  }
  rule.additional = schema("additionalProperties");
  if (any || rule.additional) add(std::move(rule));
  if (const auto name = schema("propertyNames")) add(PropertyNamesRule{*name});
}

void Compiler::items() {
  ItemsRule rule{.rest_keyword = "items", .prefix = {}, .rest = std::nullopt};
  if (place_->dialect.draft == Draft::draft2020_12) {
    const auto* value = find("items");
    if (value != nullptr && value->is_array()) {
      return fail("items", "must be a schema; a list of schemas is \"prefixItems\", or draft-07 named in \"$schema\"");
    }
    rule.prefix = schemas("prefixItems");
    rule.rest = schema("items");
  } else if (const auto* value = find("items"); value != nullptr && value->is_array()) {
    for (const auto& item : value->get_array())
      rule.prefix.push_back(node_for(item));
    rule.rest_keyword = "additionalItems";
    rule.rest = schema("additionalItems");
  } else {
    rule.rest = schema("items");
  }
  if (!rule.prefix.empty() || rule.rest) add(std::move(rule));
}

void Compiler::contains() {
  const auto contained = schema("contains");
  if (!contained) return;
  ContainsRule rule{.schema = *contained, .at_least = 1, .at_most = std::nullopt};
  if (place_->dialect.draft == Draft::draft2020_12 && place_->dialect.assertions) {
    rule.at_least = count_value("minContains").value_or(1);
    rule.at_most = count_value("maxContains");
  }
  add(rule);
}

void Compiler::references() {
  std::string_view dynamic_anchor;
  if (const auto target = reference("$ref", dynamic_anchor)) add(ReferenceRule{*target});
  if (place_->dialect.draft == Draft::draft7) return;
  const auto target = reference("$dynamicRef", dynamic_anchor);
  if (!target) return;
  if (dynamic_anchor.empty()) return add(ReferenceRule{*target});
  add(DynamicReferenceRule{anchor_number(dynamic_anchor), *target});
}

std::optional<NodeId> Compiler::reference(std::string_view keyword, std::string_view& dynamic_anchor) {
  const auto* value = find(keyword);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    fail(keyword, "must be a string");
    return std::nullopt;
  }
  const auto target = places_.resolve(*place_, value->get_string());
  if (!target) {
    fail(Error(target.error()).within(fmt::format("schema at {}", to_string(*place_))));
    return std::nullopt;
  }
  dynamic_anchor = target->dynamic_anchor;
  return node_for(*target->schema);
}

void Compiler::branches() {
  if (auto all = schemas("allOf"); !all.empty()) add(AllOfRule{std::move(all)});
  if (auto any = schemas("anyOf"); !any.empty()) add(BranchRule{Match::any, std::move(any)});
  if (auto one = schemas("oneOf"); !one.empty()) add(BranchRule{Match::exactly_one, std::move(one)});
  if (const auto negated = schema("not")) add(NotRule{*negated});
  const auto met = schema("then");
  const auto unmet = schema("else");
  if (const auto condition = schema("if")) add(ConditionRule{*condition, met, unmet});
}

void Compiler::dependencies() {
  DependentRequiredRule required{.keyword = "dependentRequired", .names = {}};
  DependentSchemasRule dependent;
  const bool modern = place_->dialect.draft == Draft::draft2020_12;
  if (const auto* lists = modern && place_->dialect.assertions ? members("dependentRequired") : nullptr) {
    for (const auto& member : *lists) {
      required.names.emplace_back(member.key(), names("dependentRequired", member.value()));
    }
  }
  if (const auto* schemas = modern && place_->dialect.applicators ? members("dependentSchemas") : nullptr) {
    for (const auto& member : *schemas)
      dependent.schemas.emplace_back(member.key(), node_for(member.value()));
  }
  // Split into two keywords in 2019-09, but still reserved with this meaning and still in use.
  if (const auto* either = members("dependencies")) {
    for (const auto& member : *either) {
      if (member.value().is_array()) {
        required.keyword = "dependencies";
        required.names.emplace_back(member.key(), names("dependencies", member.value()));
      } else {
        dependent.schemas.emplace_back(member.key(), node_for(member.value()));
      }
    }
  }
  if (!required.names.empty()) add(std::move(required));
  if (!dependent.schemas.empty()) add(std::move(dependent));
}

void Compiler::unevaluated() {
  if (const auto rest = schema("unevaluatedProperties")) {
    node_.unevaluated.add(Type::object);
    add(UnevaluatedRule{Type::object, *rest});
  }
  if (const auto rest = schema("unevaluatedItems")) {
    node_.unevaluated.add(Type::array);
    add(UnevaluatedRule{Type::array, *rest});
  }
}

const boost::json::value* Compiler::find(std::string_view keyword) const { return object_->if_contains(keyword); }

std::optional<NodeId> Compiler::schema(std::string_view keyword) {
  const auto* value = find(keyword);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object() && !value->is_bool()) {
    fail(keyword, "must be a schema: an object or a boolean");
    return std::nullopt;
  }
  return node_for(*value);
}

std::vector<NodeId> Compiler::schemas(std::string_view keyword) {
  std::vector<NodeId> result;
  const auto* value = find(keyword);
  if (value == nullptr) return result;
  const auto* list = value->if_array();
  if (list == nullptr || list->empty()) {
    fail(keyword, "must be a list of schemas, and not empty");
    return result;
  }
  for (const auto& item : *list)
    result.push_back(node_for(item));
  return result;
}

const boost::json::object* Compiler::members(std::string_view keyword) {
  const auto* value = find(keyword);
  if (value == nullptr) return nullptr;
  if (!value->is_object()) fail(keyword, "must be an object");
  return value->if_object();
}

std::shared_ptr<const Pattern> Compiler::pattern(std::string_view keyword, std::string_view text) {
  auto compiled = Pattern::compile(text);
  if (!compiled) {
    fail(Error(compiled.error())
             .within(fmt::format("schema at {}: \"{}\" {}", to_string(*place_), keyword, log::printable(text, 100))));
    return nullptr;
  }
  if (patterns_.insert(compiled->get()).second) {
    pattern_instructions_ += (*compiled)->size();
    if (patterns_.size() > options_.limits.patterns) {
      fail(errors::too_large("the number of different patterns in a schema", options_.limits.patterns));
    }
    if (pattern_instructions_ > options_.limits.pattern_instructions) {
      fail(errors::too_large("the size of the patterns in a schema", options_.limits.pattern_instructions));
    }
  }
  return *std::move(compiled);
}

}  // namespace proteus::json::schema
