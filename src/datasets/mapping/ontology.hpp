#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/mapping/problem.hpp"

// The types a mapping may speak of: ontology.toml beside it.
namespace proteus::datasets {

struct EntityType {
  std::string name;
  std::string description;
};

struct RelationshipType {
  std::string name;
  std::string domain;
  std::string range;
  std::string description;
};

struct Ontology {
  std::vector<EntityType> entity_types;
  std::vector<RelationshipType> relationship_types;

  bool has_entity(std::string_view name) const;
  // A relationship may stand there several times, with other ends.
  std::vector<const RelationshipType*> relationships_called(std::string_view name) const;
};

// Reports everything that is wrong, also ends that are no entity type of it.
std::expected<Ontology, Problems> parse_ontology(std::string_view text);

}  // namespace proteus::datasets
