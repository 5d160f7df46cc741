#pragma once

#include "datasets/mapping/mapping.hpp"
#include "datasets/mapping/ontology.hpp"
#include "datasets/mapping/problem.hpp"
#include "datasets/sources/source.hpp"

namespace proteus::datasets {

// Holds a mapping against what the source has and, where there is one, against an ontology. What refuses it and what is
// only doubtful, by line.
Problems validate(const ParsedMapping& parsed, const Introspection& source, const Ontology* ontology);

}  // namespace proteus::datasets
