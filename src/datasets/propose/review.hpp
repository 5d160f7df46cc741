#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/environment.hpp"
#include "datasets/mapping/mapping.hpp"
#include "datasets/mapping/ontology.hpp"
#include "datasets/mapping/problem.hpp"
#include "datasets/sources/source.hpp"

// What the command line and the admin API do alike before a person decides. All of it blocks.
namespace proteus::datasets {

// What the source has that a variable of the environment names. Errors never hold the DSN, or a part of it.
Result<Introspection> introspect(const Environment& environment, const std::string& variable, const std::string& schema,
                                 const Patience& patience);

// The text of an ontology, and the file that it is in; nothing where there is none.
struct OntologyText {
  std::string file;
  std::string text;
};

struct Reviewed {
  std::optional<Mapping> mapping;  // where the text is one
  Problems problems;               // of the mapping and of the ontology
};

// Everything that is wrong with a mapping, held against its source and the ontology. Fails where that cannot be found
// out.
Result<Reviewed> review(std::string_view text, const std::optional<OntologyText>& ontology,
                        const Environment& environment, const Patience& patience);

}  // namespace proteus::datasets
