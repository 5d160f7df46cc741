#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <proteus/error.hpp>

#include "datasets/plan.hpp"
#include "datasets/source.hpp"

// Everything a dataset knows about one entity, and where each fact comes from.
namespace proteus::datasets {

struct WorkupRequest {
  static constexpr std::int64_t kMaxHops = 3;
  static constexpr std::int64_t kMaxLimit = 500;
  static constexpr std::size_t kLongestEntity = 500;

  std::string entity = {};  // an id, a name, an alias, or the `ref` of a candidate
  std::string type = {};    // only entities of this type; empty: of any
  std::int64_t hops = 1;
  std::int64_t limit = 50;  // of relationships, and of nodes besides the entity
};

enum class WorkupStatus : std::uint8_t { found, ambiguous, not_found };
std::string_view to_string(WorkupStatus status);

// How an entity was found, the strictest way first.
enum class Resolution : std::uint8_t { ref, id, name, alias, without_case, prefix };
std::string_view to_string(Resolution resolution);

using Citations = std::vector<std::string>;  // ids of provenance

// An entity by name. `ref`, the table and the id, tells it from all others of the dataset.
struct Reference {
  std::string ref;
  std::string id;
  std::string type;
  std::string name;
};

struct Candidate {
  Reference reference;
  Citations cites;
};

struct Relationship {
  std::string type;
  Direction direction;
  Reference peer;
  Citations cites;
};

struct Neighbourhood {
  struct Node {
    Reference reference;
    std::int64_t hops;
    Citations cites;
  };
  struct Edge {
    std::string from;  // refs
    std::string type;
    std::string to;
    Citations cites;
  };
  std::vector<Node> nodes;  // the entity first
  std::vector<Edge> edges;
  std::int64_t hops = 1;
  bool truncated = false;  // there is more within the hops than the limit lets in
};

// Something that is not there, or not whole.
struct Gap {
  enum class Kind : std::uint8_t { missing, dangling, truncated, cut, not_text, no_id, more_candidates };
  Kind kind;
  std::string message;
  Citations cites;
};
std::string_view to_string(Gap::Kind kind);

struct Provenance {
  std::string id;
  std::string table;
  std::string operation;
  std::vector<std::pair<std::string, Value>> keys;  // of the row
};

struct Workup {
  WorkupStatus status = WorkupStatus::not_found;
  std::string dataset;
  std::string asked;
  std::optional<Resolution> resolution;
  std::vector<Candidate> candidates;
  std::optional<Reference> entity;
  std::vector<std::pair<std::string, Value>> attributes;
  Citations entity_cites;
  std::vector<Relationship> relationships;
  Neighbourhood neighbourhood;
  std::vector<Gap> gaps;
  std::vector<Provenance> provenance;
  std::string mapping_sha256;
};

// Reads the source, in one transaction. Blocks.
Result<Workup> work_up(const Plan& plan, Source& source, const WorkupRequest& request, const Patience& patience);

// For programs, as the tools' output schema has it.
boost::json::object write_workup(const Workup& workup);
// For models: every line names its sources.
std::string describe_workup(const Workup& workup);

}  // namespace proteus::datasets
