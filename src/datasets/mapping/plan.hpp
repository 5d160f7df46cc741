#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/mapping/mapping.hpp"

// A mapping, prepared for reading: which columns are read of each table, and where links lead from it.
namespace proteus::datasets {

enum class Direction : std::uint8_t { outgoing, incoming };
std::string_view to_string(Direction direction);

struct EntityPlan;

// One side of a relationship, seen from an entity.
struct LinkPlan {
  const RelationshipMapping* relationship;
  Direction direction;
  std::size_t own;          // the column of this entity, among those read
  const EntityPlan* peer;   // where it leads
  std::string peer_column;  // the column there
  std::string near_column;  // of the table between, on this side; empty where there is none
  std::string far_column;   // likewise, on the other side
  std::string operation;    // what is done to find the peers, in words
  std::string between;      // likewise, for the rows between
};

struct EntityPlan {
  const EntityMapping* entity;
  std::vector<std::string> brief;  // the columns read of an entity that is only named: its id first
  std::vector<std::string> full;   // the same, and then all others
  std::optional<std::size_t> name;
  struct Attribute {
    std::string name;
    std::size_t index;  // in `full`
  };
  std::vector<Attribute> attributes;
  std::vector<LinkPlan> links;
};

// Immutable; what is in it points to it.
class Plan {
 public:
  // The mapping must be one that `parse_mapping` gave.
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
