#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "json/schema/schema.hpp"

namespace proteus::json::schema {

// The groups of keywords that have a meaning. Core keywords and annotations always have one: nothing works without the
// core, and annotations assert nothing.
struct Dialect {
  Draft draft = Draft::draft2020_12;
  bool applicators = true;
  bool assertions = true;
  bool unevaluated = true;
};

// Where the subschemas are in the value of a keyword.
enum class Nesting : std::uint8_t {
  schema,            // the value is a schema
  list,              // each item is a schema
  schema_or_list,    // either of the above
  members,           // the value of each member is a schema
  schemas_or_names,  // the value of each member is a schema or a list of names
};

struct Applicator {
  std::string_view keyword;
  Nesting nesting;
};

// Returns the keywords of a draft whose values contain subschemas.
std::span<const Applicator> applicators(Draft draft);

// Returns the dialect for the `$vocabulary` of a custom metaschema. Fails if a required vocabulary is not supported.
Result<Dialect> dialect_of_vocabularies(const boost::json::value& vocabulary);

// Returns the dialect of a standard `$schema`, with or without an empty fragment; null for any other URI.
const Dialect* standard_dialect(std::string_view schema_uri);

Error unsupported_dialect(std::string_view schema_uri);

}  // namespace proteus::json::schema
