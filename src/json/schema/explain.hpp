#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/schema/program.hpp"
#include "json/schema/schema.hpp"

// Messages of validation errors, written for an agent that has to correct its call. All text from the instance or the
// schema is cut, so that no message grows with either.
namespace proteus::json::schema::explain {

// Returns a JSON value as compact text of about `limit` bytes at most, with "…" where it was cut.
std::string compact(const boost::json::value& value, std::size_t limit = 60);
// Returns the first `limit` bytes of the text at most, followed by "…" if it was cut.
std::string shortened(std::string_view text, std::size_t limit);
std::string quoted(std::string_view text, std::size_t limit = 60);
std::string shown(const Number& number);

std::string wrong_type(TypeSet allowed, const boost::json::value& instance);
std::string wrong_value(const ValuesRule& rule, const boost::json::value& instance);
std::string out_of_bounds(const BoundRule& rule, const Number& instance);
std::string not_a_multiple(const MultipleRule& rule, const Number& instance);
std::string wrong_count(const CountRule& rule, std::uint64_t count);
std::string no_match(const Pattern& pattern, std::string_view instance);

// `known` are the allowed names in the order of the schema. Names that are in `present`, the instance, are not
// suggested.
std::string unknown_property(std::string_view name, std::span<const std::string_view> known,
                             const boost::json::object& present);

// Returns the properties that are named by `node` and by the schemas that it applies to the same value.
std::vector<std::string_view> known_properties(const Program& program, NodeId node);

// Describes the schema under `not` if it has one simple rule; otherwise returns a general message.
std::string negated(const Node& node);

// Lists the errors of the branches of an `anyOf` or `oneOf` that has `count` branches, none of which matched. Shows
// paths relative to `path`.
std::string no_branch(std::span<const std::vector<SchemaError>> branches, std::size_t count, std::string_view path);

}  // namespace proteus::json::schema::explain
