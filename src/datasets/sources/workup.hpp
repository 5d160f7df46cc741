#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

#include "datasets/mapping/plan.hpp"
#include "datasets/sources/source.hpp"

// Everything a dataset knows about one entity, and where each fact comes from.
namespace proteus::datasets {

struct WorkupRequest {
  static constexpr std::int64_t kMaxHops = 3;
  static constexpr std::int64_t kMaxLimit = 500;
  static constexpr std::size_t kLongestEntity = 500;

  std::string entity = {};  // an id, a name, an alias, or the `ref` of a candidate
  std::string type = {};    // only entities of this type; empty: of any type
  std::int64_t hops = 1;
  std::int64_t limit = 50;  // of relationships, and of nodes besides the entity
};

enum class WorkupStatus : std::uint8_t { found, ambiguous, not_found };
std::string_view to_string(WorkupStatus status);

// How an entity was found, the strictest way first.
enum class Resolution : std::uint8_t { ref, id, name, alias, without_case, prefix };
std::string_view to_string(Resolution resolution);

// Numbers of provenance entries, from 1. A fact comes from at most three rows.
class Citations {
 public:
  Citations() = default;
  Citations(std::initializer_list<std::uint32_t> numbers) {
    for (const std::uint32_t number : numbers)
      push_back(number);
  }

  void push_back(std::uint32_t number) { numbers_.at(size_++) = number; }
  const std::uint32_t* begin() const { return numbers_.data(); }
  const std::uint32_t* end() const { return numbers_.data() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::uint32_t operator[](std::size_t index) const { return numbers_.at(index); }

 private:
  std::array<std::uint32_t, 3> numbers_{};
  std::size_t size_ = 0;
};

// A named entity. `ref`, the table and the id, distinguishes it from all others of the dataset.
struct Reference {
  std::string ref;
  std::size_t id_at;  // offset of the id in `ref`
  std::string name;
  std::string_view type;
  std::uint32_t cite;  // of its row

  std::string_view id() const { return std::string_view(ref).substr(id_at); }
};

struct Relationship {
  std::string_view type;
  Direction direction;
  const Reference* peer;
  Citations cites;
};

struct Neighbourhood {
  struct Node {
    const Reference* reference;
    std::int64_t hops;
  };
  struct Edge {
    const Reference* from;
    std::string_view type;
    const Reference* to;
    Citations cites;
  };
  std::vector<Node> nodes;  // the entity first
  std::vector<Edge> edges;
  std::int64_t hops = 1;
  bool truncated = false;  // there is more within the hops than the limit allows
};

// Something that is missing or incomplete.
struct Gap {
  enum class Kind : std::uint8_t { missing, dangling, truncated, cut, not_text, no_id, more_candidates };
  Kind kind;
  std::string message;
  Citations cites;
};
std::string_view to_string(Gap::Kind kind);

// A row that was read, and why.
struct Provenance {
  struct Key {
    std::string_view column;
    Value value;
  };
  std::string_view table;
  std::string_view operation;
  Key key;
  std::optional<Key> other = std::nullopt;  // of a row between two entities
};

// Its views refer to the plan that made it, which must outlive it; its pointers refer into `named`.
struct Workup {
  Workup() = default;
  Workup(Workup&&) noexcept = default;
  Workup& operator=(Workup&&) noexcept = default;
  Workup(const Workup&) = delete;
  Workup& operator=(const Workup&) = delete;
  ~Workup() = default;

  WorkupStatus status = WorkupStatus::not_found;
  std::string_view dataset;
  std::string asked;
  std::optional<Resolution> resolution;
  std::deque<Reference> named;  // each entity that was read, once
  std::vector<const Reference*> candidates;
  const Reference* entity = nullptr;
  std::vector<std::pair<std::string_view, Value>> attributes;
  std::vector<Relationship> relationships;
  Neighbourhood neighbourhood;
  std::vector<Gap> gaps;
  std::vector<Provenance> provenance;
  std::string_view mapping_sha256;
};

// Reads the source in one transaction. Blocks.
Result<Workup> work_up(const Plan& plan, Source& source, const WorkupRequest& request, const Patience& patience);

// Returns the workup for programs: a JSON object that fits the tools' output schema.
std::string write_workup(const Workup& workup);
// Returns the workup for models: every line names its sources.
std::string describe_workup(const Workup& workup);

// A workup in both forms.
struct WorkupDocument {
  std::string json;
  std::string text;
};

}  // namespace proteus::datasets
