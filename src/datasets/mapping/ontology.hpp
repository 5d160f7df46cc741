#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/mapping/problem.hpp"

// The types that a mapping may use: ontology.toml beside it.
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
  // Returns all types of this name: a relationship may be listed several times, with different ends.
  std::vector<const RelationshipType*> relationships_called(std::string_view name) const;
};

// Reports everything that is wrong, including ends that are not entity types.
std::expected<Ontology, Problems> parse_ontology(std::string_view text);

}  // namespace proteus::datasets
