#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "toml/document.hpp"

namespace proteus::datasets {

// What is wrong with a mapping, for whoever repairs it.
enum class ProblemKind : std::uint8_t {
  syntax,          // no TOML, or not the keys of a mapping
  unknown_table,   // the source has no such table
  unknown_column,  // its table has no such column
  unmapped_end,    // a relationship with a table that is no entity's
  unknown_type,    // the ontology has no such type
  wrong_domain,    // a relationship from another type than the ontology says
  wrong_range,     // or to another one
  no_key,          // rows that cannot be told apart
  unusable,        // something the source has that a mapping cannot name
  doubtful,        // a guess, or something to look at; nothing is refused for it
};
std::string_view to_string(ProblemKind kind);

struct Problem {
  ProblemKind kind = ProblemKind::syntax;
  toml::Position position = {};  // in the mapping; zero where it is about none of its lines
  std::string path = {};         // "entities[0].id_column"
  std::string message = {};

  bool refuses() const { return kind != ProblemKind::doubtful; }
};
using Problems = std::vector<Problem>;

bool any_refuses(const Problems& problems);

// A name of the source as a message shows it.
std::string shown(std::string_view name);

// "acme.toml:12:3: entities[0].table: …", on one line.
std::string show(std::string_view file, const Problem& problem);
boost::json::object write_problem(const Problem& problem);

}  // namespace proteus::datasets
