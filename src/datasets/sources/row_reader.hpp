#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "datasets/mapping/plan.hpp"
#include "datasets/sources/source.hpp"
#include "datasets/sources/workup.hpp"

namespace proteus::datasets {

// An entity and its row. The plan and the workup must outlive it.
struct Node {
  const EntityPlan* plan = nullptr;
  const Reference* reference = nullptr;
  std::vector<Value> row = {};  // its brief columns, or all
};

// The entity at the other end of a link.
struct Peer {
  const Reference* reference;
  Row row;  // its brief columns
  Citations cites;
};

struct Peers {
  std::vector<Rows> read = {};  // own the rows of `all`
  std::vector<Peer> all = {};
  bool more = false;  // there were rows that were not read, and they may lead to others
};

// Reads entities through a plan, and records where every fact came from. Belongs to one workup.
class RowReader {
 public:
  RowReader(Source& source, Workup& workup) : source_(source), workup_(workup) {}

  // Returns the rows that fit, with all columns, ordered by id. Rows that cannot be named become gaps.
  Result<std::vector<Node>> find(const EntityPlan& plan, std::vector<Condition> any_of, std::size_t limit,
                                 std::string_view operation);
  // Returns the rows that a link leads to, with their brief columns.
  Result<Peers> follow(const Node& from, const LinkPlan& link, std::size_t limit);

  void gap(Gap::Kind kind, std::string message, Citations cites = {});

 private:
  Result<Peers> follow_through(const Node& from, const LinkPlan& link, const Value& own, std::size_t limit);
  // Returns null for a row that cannot be named.
  const Reference* name(const EntityPlan& plan, Row row, std::string_view operation);
  std::uint32_t cite(Provenance row);
  // Gives a row between two entities one number, however often it is read.
  std::uint32_t cite_between(const LinkPlan& link, const Value& own, const Value& far);

  Source& source_;
  Workup& workup_;
  std::string ref_;                                                                                   // a buffer
  boost::unordered_flat_map<std::string_view, const Reference*, std::hash<std::string_view>> named_;  // by ref
  std::map<std::string, std::uint32_t, std::less<>> between_;                                         // by row keys
};

}  // namespace proteus::datasets
