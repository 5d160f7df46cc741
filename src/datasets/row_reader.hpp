#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/plan.hpp"
#include "datasets/source.hpp"
#include "datasets/workup.hpp"

namespace proteus::datasets {

// An entity's row. The plan outlives it.
struct Node {
  const EntityPlan* plan = nullptr;
  Row row = {};  // its brief columns, or all of them
  Reference reference = {};
  std::string cite = {};  // of the row itself
};

// What stands at the other end of a link.
struct Peer {
  Node node;
  Citations cites;
};

// Reads entities through a plan, and keeps account of where everything came from. Belongs to one workup.
class RowReader {
 public:
  RowReader(Source& source, Workup& workup) : source_(source), workup_(workup) {}

  // All columns of the rows that fit, in the order of their ids. Rows that cannot be named are gaps.
  Result<std::vector<Node>> find(const EntityPlan& plan, std::vector<Condition> any_of, std::size_t limit,
                                 std::string_view operation);
  // Those a link leads to from a row, their brief columns.
  Result<std::vector<Peer>> follow(const Node& from, const LinkPlan& link, std::size_t limit);

  void gap(Gap::Kind kind, std::string message, Citations cites = {});

 private:
  Result<std::vector<Peer>> follow_through(const Node& from, const LinkPlan& link, const Value& own, std::size_t limit);
  std::optional<Node> name(const EntityPlan& plan, Row row, std::string_view operation);
  // The id of a row's provenance; a row has one, however often it is read.
  std::string cite(const std::string& table, std::string_view operation,
                   std::vector<std::pair<std::string, Value>> keys);

  Source& source_;
  Workup& workup_;
  std::map<std::string, std::string, std::less<>> cited_;  // ids by table and keys
};

}  // namespace proteus::datasets
