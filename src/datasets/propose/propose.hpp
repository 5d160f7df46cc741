#pragma once

#include <string>

#include "datasets/mapping/mapping.hpp"
#include "datasets/mapping/ontology.hpp"
#include "datasets/mapping/problem.hpp"
#include "datasets/sources/source.hpp"

namespace proteus::datasets {

// A draft of a mapping, for a person to review. It ratifies nothing.
struct Proposal {
  Mapping mapping;
  DraftNotes notes;
  Problems problems;  // what the draft leaves out, and guesses that do not fit the ontology

  std::string draft() const { return write_mapping(mapping, notes); }
};

struct ProposalRequest {
  std::string name;
  std::string dsn_env;
  std::string schema = "public";
};

// Guesses a mapping from names, keys and types. Leaves out tables whose rows cannot be told apart, views, and columns
// that look like secrets.
Proposal propose(const ProposalRequest& request, const Introspection& source, const Ontology* ontology);

}  // namespace proteus::datasets
