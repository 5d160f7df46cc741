#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/mapping/mapping.hpp"

// A mapping prepared for reading: which columns to read of each table, and where links lead.
namespace proteus::datasets {

enum class Direction : std::uint8_t { outgoing, incoming };
std::string_view to_string(Direction direction);

struct EntityPlan;

// One side of a relationship, seen from an entity.
struct LinkPlan {
  const RelationshipMapping* relationship;
  Direction direction;
  std::size_t own;          // index of this entity's column, in `brief`
  const EntityPlan* peer;   // the entity at the other end
  std::string peer_column;  // the column of the peer
  std::string near_column;  // of the table between, on this side; empty if there is none
  std::string far_column;   // the same, on the other side
  std::string operation;    // how the peers are found, in words
  std::string between;      // how the rows between are found, in words
};

struct EntityPlan {
  const EntityMapping* entity;
  std::vector<std::string> brief;  // columns to read of an entity that is only named; its id is first
  std::vector<std::string> full;   // the brief columns, then all others
  std::optional<std::size_t> name;
  struct Attribute {
    std::string name;
    std::size_t index;  // in `full`
  };
  std::vector<Attribute> attributes;
  std::vector<LinkPlan> links;
};

// Immutable. Its parts point to each other and to the mapping.
class Plan {
 public:
  // The mapping must come from `parse_mapping`.
  Plan(Mapping mapping, std::string sha256);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Mapping& mapping() const { return mapping_; }
  const std::string& sha256() const { return sha256_; }
  const std::vector<EntityPlan>& entities() const { return entities_; }

 private:
  const Mapping mapping_;
  const std::string sha256_;
  std::vector<EntityPlan> entities_;  // in the order of the mapping
};
using PlanPointer = std::shared_ptr<const Plan>;

}  // namespace proteus::datasets
