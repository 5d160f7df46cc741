#include "datasets/mapping/ontology.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/binding.hpp"

namespace proteus::datasets {
namespace {

constexpr std::size_t kMaxTypes = 5000;
constexpr std::size_t kMaxFaults = 200;

json::Codec<std::string> name() {
  return json::text({.max_bytes = 256, .check = [](std::string_view text) -> Result<> {
                       if (text.empty()) return std::unexpected(errors::invalid("must not be empty"));
                       return {};
                     }});
}

const json::Binding<EntityType>& entity_type_binding() {
  static const json::Binding<EntityType> binding{
      json::field("name", &EntityType::name, name(), "The type").required(),
      json::field("description", &EntityType::description, json::text(), "What it means"),
  };
  return binding;
}

const json::Binding<RelationshipType>& relationship_type_binding() {
  static const json::Binding<RelationshipType> binding{
      json::field("name", &RelationshipType::name, name(), "The type").required(),
      json::field("domain", &RelationshipType::domain, name(), "Where it begins").required(),
      json::field("range", &RelationshipType::range, name(), "Where it ends").required(),
      json::field("description", &RelationshipType::description, json::text(), "What it means"),
  };
  return binding;
}

const json::Binding<Ontology>& ontology_binding() {
  static const json::Binding<Ontology> made{
      json::field("entity_types", &Ontology::entity_types,
                  json::list(json::table(entity_type_binding()), "tables", {.least = 1, .most = kMaxTypes}),
                  "Types of entities")
          .required(),
      json::field("relationship_types", &Ontology::relationship_types,
                  json::list(json::table(relationship_type_binding()), "tables", {.least = 0, .most = kMaxTypes}),
                  "Types of relationships"),
  };
  return made;
}

}  // namespace

bool Ontology::has_entity(std::string_view type) const {
  return std::ranges::find(entity_types, type, &EntityType::name) != entity_types.end();
}

std::vector<const RelationshipType*> Ontology::relationships_called(std::string_view type) const {
  std::vector<const RelationshipType*> found;
  for (const auto& one : relationship_types) {
    if (one.name == type) found.push_back(&one);
  }
  return found;
}

std::expected<Ontology, Problems> parse_ontology(std::string_view text) {
  Problems problems;
  auto document = toml::Document::parse(text);
  if (!document) {
    problems.push_back({.position = document.error().position, .message = std::move(document.error().message)});
    return std::unexpected(std::move(problems));
  }
  json::Faults faults;
  Ontology ontology;
  ontology_binding().read(document->root(), ontology, json::Place(faults));
  for (const auto* all : {&document->faults(), &faults.all()}) {
    for (const json::Fault& fault : *all) {
      if (problems.size() == kMaxFaults) break;
      problems.push_back({.position = document->locate(fault.pointer), .path = fault.path, .message = fault.message});
    }
  }
  for (std::size_t i = 0; problems.empty() && i < ontology.relationship_types.size(); ++i) {
    const RelationshipType& one = ontology.relationship_types[i];
    for (const auto& [key, type] : {std::pair("domain", &one.domain), std::pair("range", &one.range)}) {
      if (ontology.has_entity(*type)) continue;
      problems.push_back({.kind = ProblemKind::unknown_type,
                          .position = document->locate(fmt::format("/relationship_types/{}/{}", i, key)),
                          .path = fmt::format("relationship_types[{}].{}", i, key),
                          .message = fmt::format("{} is not one of the entity types", log::printable(*type))});
    }
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));
  return ontology;
}

}  // namespace proteus::datasets
