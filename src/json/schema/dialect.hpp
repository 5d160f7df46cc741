#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "json/schema/schema.hpp"

namespace proteus::json::schema {

// Which keywords have a meaning. Those of the core and of annotations always do: the first because nothing
// works without them, the second because they assert nothing.
struct Dialect {
  Draft draft = Draft::draft2020_12;
  bool applicators = true;
  bool assertions = true;
  bool unevaluated = true;
};

// How subschemas lie in the value of a keyword.
enum class Nesting : std::uint8_t {
  schema,            // the value is one
  list,              // each item is one
  schema_or_list,    // either of the above
  members,           // each member's value is one
  schemas_or_names,  // each member's value is one, or a list of names
};

struct Applicator {
  std::string_view keyword;
  Nesting nesting;
};

// The keywords of a draft whose values hold subschemas.
std::span<const Applicator> applicators(Draft draft);

// The vocabularies that a custom metaschema names in `$vocabulary`.
Result<Dialect> dialect_of_vocabularies(const boost::json::value& vocabulary);

// The dialect of a standard `$schema`, with or without empty fragment; nothing for any other.
const Dialect* standard_dialect(std::string_view schema_uri);

Error unsupported_dialect(std::string_view schema_uri);

}  // namespace proteus::json::schema
