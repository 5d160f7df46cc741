#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/json/value.hpp>

#include "json/schema/number.hpp"
#include "json/schema/pattern.hpp"

namespace proteus::json::schema {

// The compiled form of a schema: one Node per subschema with the rules of its keywords. Nodes refer to each other by
// number. Plain data, immutable once compiled; evaluate.cpp defines what the rules mean.

using NodeId = std::uint32_t;

enum class Type : std::uint8_t { null = 1, boolean = 2, object = 4, array = 8, number = 16, string = 32, integer = 64 };

struct TypeSet {
  std::uint8_t bits = 0;
  bool has(Type type) const { return (bits & static_cast<std::uint8_t>(type)) != 0; }
  void add(Type type) { bits = static_cast<std::uint8_t>(bits | static_cast<std::uint8_t>(type)); }
};

struct TypeRule {
  TypeSet allowed;
};

// `const` and `enum`.
struct ValuesRule {
  std::string_view keyword;
  std::vector<boost::json::value> values;
  // Hash and position of each value, sorted. Empty for short lists.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> by_hash;
};

enum class Relation : std::uint8_t { at_least, more_than, at_most, less_than };

struct BoundRule {
  std::string_view keyword;
  Relation relation;
  Number limit;
};

struct MultipleRule {
  Number divisor;
};

// `minLength`, `maxItems` and similar keywords.
struct CountRule {
  std::string_view keyword;
  Type counted;  // string, array or object
  Relation relation;
  std::uint64_t limit;
};

struct PatternRule {
  std::shared_ptr<const Pattern> pattern;
};

struct UniqueRule {};

struct RequiredRule {
  std::vector<std::string> names;
};

struct DependentRequiredRule {
  std::string_view keyword;
  std::vector<std::pair<std::string, std::vector<std::string>>> names;
};

struct DependentSchemasRule {
  std::vector<std::pair<std::string, NodeId>> schemas;
};

// `properties`, `patternProperties` and `additionalProperties`, which depend on each other.
struct PropertiesRule {
  std::vector<std::pair<std::string, NodeId>> named;  // sorted by name
  std::vector<std::uint32_t> written;                 // positions in `named` in the order the schema lists them
  std::vector<std::pair<std::shared_ptr<const Pattern>, NodeId>> patterns;
  std::optional<NodeId> additional;
};

struct PropertyNamesRule {
  NodeId schema;
};

// `prefixItems` and `items`; in draft-07 `items` and `additionalItems`.
struct ItemsRule {
  std::string_view rest_keyword;
  std::vector<NodeId> prefix;
  std::optional<NodeId> rest;
};

struct ContainsRule {
  NodeId schema;
  std::uint64_t at_least = 1;
  std::optional<std::uint64_t> at_most;
};

struct ReferenceRule {
  NodeId target;
};

struct DynamicReferenceRule {
  std::uint32_t anchor;  // number of the name of the anchor
  NodeId otherwise;      // target if no resource in scope has the anchor
};

struct AllOfRule {
  std::vector<NodeId> schemas;
};

enum class Match : std::uint8_t { any, exactly_one };

// `anyOf` and `oneOf`.
struct BranchRule {
  Match match;
  std::vector<NodeId> schemas;
};

struct NotRule {
  NodeId schema;
};

struct ConditionRule {
  NodeId condition;
  std::optional<NodeId> met;
  std::optional<NodeId> unmet;
};

struct UnevaluatedRule {
  Type container;  // object or array
  NodeId schema;
};

using Rule = std::variant<TypeRule, ValuesRule, BoundRule, MultipleRule, CountRule, PatternRule, UniqueRule,
                          RequiredRule, DependentRequiredRule, PropertiesRule, PropertyNamesRule, ItemsRule,
                          ContainsRule, ReferenceRule, DynamicReferenceRule, AllOfRule, BranchRule, NotRule,
                          ConditionRule, DependentSchemasRule, UnevaluatedRule>;

struct Node {
  std::vector<Rule> rules;     // cheap ones first, UnevaluatedRule last
  std::uint32_t resource = 0;  // its dynamic anchors come into scope with this node
  bool never = false;          // the schema `false`
  TypeSet unevaluated;         // the containers that an UnevaluatedRule checks
};

struct Program {
  std::vector<Node> nodes;
  NodeId root = 0;
  // For each resource: the numbers of its dynamic anchors and their schemas. Empty if there are no dynamic references.
  std::vector<std::vector<std::pair<std::uint32_t, NodeId>>> dynamic_anchors;
};

// Calls `visit` for each schema that `node` applies to the same value, except for dynamic references.
void for_each_in_place(const Node& node, const std::function<void(NodeId)>& visit);

}  // namespace proteus::json::schema
