#pragma once

#include "datasets/mapping/mapping.hpp"
#include "datasets/mapping/ontology.hpp"
#include "datasets/mapping/problem.hpp"
#include "datasets/sources/source.hpp"

namespace proteus::datasets {

// Compares a mapping with its source and, unless null, an ontology. Returns the problems that refuse the mapping and
// those that are only doubtful, in the order of its lines.
Problems validate(const ParsedMapping& parsed, const Introspection& source, const Ontology* ontology);

}  // namespace proteus::datasets
