#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "toml/document.hpp"

namespace proteus::datasets {

// What is wrong with a mapping, for the person who repairs it.
enum class ProblemKind : std::uint8_t {
  syntax,          // not TOML, or not the keys of a mapping
  unknown_table,   // the source has no such table
  unknown_column,  // its table has no such column
  unmapped_end,    // a relationship with a table that no entity maps
  unknown_type,    // the ontology has no such type
  wrong_domain,    // a relationship that begins at another type than in the ontology
  wrong_range,     // a relationship that ends at another type than in the ontology
  no_key,          // rows that cannot be told apart
  unusable,        // something the source has that a mapping cannot name
  doubtful,        // a guess, or something to look at; no reason to refuse
};
std::string_view to_string(ProblemKind kind);

struct Problem {
  ProblemKind kind = ProblemKind::syntax;
  toml::Position position = {};  // in the mapping; zero if the problem has no line
  std::string path = {};         // "entities[0].id_column"
  std::string message = {};

  bool refuses() const { return kind != ProblemKind::doubtful; }
};
using Problems = std::vector<Problem>;

bool any_refuses(const Problems& problems);

// Returns a name of the source as messages show it: truncated, with control characters escaped.
std::string shown(std::string_view name);

// Returns "acme.toml:12:3: entities[0].table: …", on one line.
std::string show(std::string_view file, const Problem& problem);
boost::json::object write_problem(const Problem& problem);

}  // namespace proteus::datasets
