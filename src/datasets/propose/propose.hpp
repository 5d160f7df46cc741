#pragma once

#include <string>

#include "datasets/mapping/mapping.hpp"
#include "datasets/mapping/ontology.hpp"
#include "datasets/mapping/problem.hpp"
#include "datasets/sources/source.hpp"

namespace proteus::datasets {

// A draft of a mapping, for a person to look over. It ratifies nothing.
struct Proposal {
  Mapping mapping;
  DraftNotes notes;
  Problems problems;  // what of the source is not in it, and what was guessed against the ontology

  std::string draft() const { return write_mapping(mapping, notes); }
};

struct ProposalRequest {
  std::string name;
  std::string dsn_env;
  std::string schema = "public";
};

// Guesses from names, keys and types. Tables whose rows cannot be told apart, views, and columns that look like secrets
// are left out.
Proposal propose(const ProposalRequest& request, const Introspection& source, const Ontology* ontology);

}  // namespace proteus::datasets
