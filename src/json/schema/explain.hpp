#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/schema/program.hpp"
#include "json/schema/schema.hpp"

// The words of validation errors, written for an agent that has to correct its call. Whatever comes from the
// instance or the schema is quoted and cut, so that no message grows with either.
namespace proteus::json::schema::explain {

// A JSON value as compact text of about `limit` bytes at most, ending in "…" if it was cut.
std::string compact(const boost::json::value& value, std::size_t limit = 60);
// At most `limit` bytes of text, and then "…".
std::string shortened(std::string_view text, std::size_t limit);
std::string quoted(std::string_view text, std::size_t limit = 60);
std::string shown(const Number& number);

std::string wrong_type(TypeSet allowed, const boost::json::value& instance);
std::string wrong_value(const ValuesRule& rule, const boost::json::value& instance);
std::string out_of_bounds(const BoundRule& rule, const Number& instance);
std::string not_a_multiple(const MultipleRule& rule, const Number& instance);
std::string wrong_count(const CountRule& rule, std::uint64_t count);
std::string no_match(const Pattern& pattern, std::string_view instance);

// `known` are the names that would have been allowed, in the order of the schema; `present` those the
// instance has, which are no good guesses for what was meant.
std::string unknown_property(std::string_view name, std::span<const std::string_view> known,
                             const boost::json::object& present);

// The properties that `node` and what it applies to the same value know by name.
std::vector<std::string_view> known_properties(const Program& program, NodeId node);

// What the schema under `not` stands for, if it says one simple thing.
std::string negated(const Node& node);

// The errors of each branch of `anyOf` or `oneOf`, when none matched. Paths are shown from `path` on.
std::string no_branch(std::span<const std::vector<SchemaError>> branches, std::size_t count, std::string_view path);

}  // namespace proteus::json::schema::explain
