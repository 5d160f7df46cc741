#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/settings/environment.hpp"
#include "datasets/mapping/mapping.hpp"
#include "datasets/mapping/ontology.hpp"
#include "datasets/mapping/problem.hpp"
#include "datasets/sources/source.hpp"

// What the command line and the admin API share before a person decides. Everything here blocks.
namespace proteus::datasets {

// Reads the structure of the source whose DSN is in an environment variable. Errors never contain the DSN or a part of
// it.
Result<Introspection> introspect(const Environment& environment, const std::string& variable, const std::string& schema,
                                 const Patience& patience);

// The text of an ontology, and the file that holds it.
struct OntologyText {
  std::string file;
  std::string text;
};

struct Reviewed {
  std::optional<Mapping> mapping;  // if the text is a mapping
  Problems problems;               // of the mapping and of the ontology
};

// Reports everything that is wrong with a mapping, compared with its source and the ontology, if there is one. Fails if
// the source cannot be read.
Result<Reviewed> review(std::string_view text, const std::optional<OntologyText>& ontology,
                        const Environment& environment, const Patience& patience);

}  // namespace proteus::datasets
