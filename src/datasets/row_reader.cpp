#include "datasets/row_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"

namespace proteus::datasets {
namespace {

constexpr std::size_t kMaxGaps = 100;
constexpr std::size_t kLongestName = 200;
constexpr std::size_t kValuesAtOnce = 50;

bool is_cut(const Value& value) {
  const auto* text = std::get_if<Text>(&value);
  return text != nullptr && (text->whole > text->text.size() || text->repaired);
}

// A value that rows can be found by.
bool can_be_key(const Value& value) {
  return !is_null(value) && !std::holds_alternative<Bytes>(value) && !is_cut(value);
}

std::string shortened(std::string text) {
  if (text.size() <= kLongestName) return text;
  return take_text(text, kLongestName).text + "…";
}

}  // namespace

void RowReader::gap(Gap::Kind kind, std::string message, Citations cites) {
  if (workup_.gaps.size() < kMaxGaps) workup_.gaps.push_back({kind, std::move(message), std::move(cites)});
}

std::string RowReader::cite(const std::string& table, std::string_view operation,
                            std::vector<std::pair<std::string, Value>> keys) {
  std::string row = table;
  for (const auto& [column, value] : keys)
    row += fmt::format("\n{}\n{}", column, to_text(value));
  auto [found, fresh] = cited_.try_emplace(std::move(row));
  if (fresh) {
    found->second = fmt::format("p{}", workup_.provenance.size() + 1);
    workup_.provenance.push_back(
        {.id = found->second, .table = table, .operation = std::string(operation), .keys = std::move(keys)});
  }
  return found->second;
}

std::optional<Node> RowReader::name(const EntityPlan& plan, Row row, std::string_view operation) {
  const EntityMapping& entity = *plan.entity;
  const Value& id = row.front();
  if (!can_be_key(id)) {
    gap(Gap::Kind::no_id, fmt::format("a row of {} was left out: its {} is {}", entity.table, entity.id_column,
                                      is_null(id) ? "null" : "nothing that it could be named by"));
    return std::nullopt;
  }
  Node node{.plan = &plan, .row = std::move(row)};
  node.reference.id = to_text(node.row.front());
  node.reference.ref = fmt::format("{}/{}", entity.table, node.reference.id);
  node.reference.type = entity.type;
  if (plan.name) node.reference.name = shortened(to_text(node.row[*plan.name]));
  if (node.reference.name.empty()) node.reference.name = node.reference.id;
  node.cite = cite(entity.table, operation, {{entity.id_column, node.row.front()}});
  return node;
}

Result<std::vector<Node>> RowReader::find(const EntityPlan& plan, std::vector<Condition> any_of, std::size_t limit,
                                          std::string_view operation) {
  auto rows = source_.read({.table = plan.entity->table,
                            .columns = plan.full,
                            .any_of = std::move(any_of),
                            .order_by = plan.entity->id_column,
                            .limit = limit});
  if (!rows) return std::unexpected(std::move(rows.error()));
  std::vector<Node> nodes;
  nodes.reserve(rows->size());
  for (Row& row : *rows) {
    if (auto node = name(plan, std::move(row), operation)) nodes.push_back(std::move(*node));
  }
  return nodes;
}

Result<std::vector<Peer>> RowReader::follow(const Node& from, const LinkPlan& link, std::size_t limit) {
  const Value& own = from.row[link.own];
  if (is_null(own)) return std::vector<Peer>{};
  if (!can_be_key(own)) {
    gap(Gap::Kind::not_text,
        fmt::format("{} of {} cannot be followed: {} is no value that rows can be found by", link.relationship->type,
                    from.reference.ref, from.plan->brief[link.own]),
        {from.cite});
    return std::vector<Peer>{};
  }
  if (!link.near_column.empty()) return follow_through(from, link, own, limit);

  const EntityMapping& peer = *link.peer->entity;
  auto rows = source_.read({.table = peer.table,
                            .columns = link.peer->brief,
                            .any_of = {{.column = link.peer_column, .value = own}},
                            .order_by = peer.id_column,
                            .limit = limit});
  if (!rows) return std::unexpected(std::move(rows.error()));
  if (rows->empty() && link.direction == Direction::outgoing) {
    gap(Gap::Kind::dangling,
        fmt::format("{} of {} leads nowhere: no row of {} has {} = {}", link.relationship->type, from.reference.ref,
                    peer.table, link.peer_column, log::printable(to_text(own), 100)),
        {from.cite});
  }
  const std::string operation =
      fmt::format("rows where {} equals {}.{}", link.peer_column, from.plan->entity->table, from.plan->brief[link.own]);
  std::vector<Peer> peers;
  peers.reserve(rows->size());
  for (Row& row : *rows) {
    auto node = name(*link.peer, std::move(row), operation);
    if (!node) continue;
    Citations cites = {from.cite};
    if (node->cite != from.cite) cites.push_back(node->cite);
    peers.push_back({std::move(*node), std::move(cites)});
  }
  return peers;
}

Result<std::vector<Peer>> RowReader::follow_through(const Node& from, const LinkPlan& link, const Value& own,
                                                    std::size_t limit) {
  const std::string& between = link.relationship->through_table;
  auto rows = source_.read({.table = between,
                            .columns = {link.far_column},
                            .any_of = {{.column = link.near_column, .value = own}},
                            .order_by = link.far_column,
                            .limit = limit});
  if (!rows) return std::unexpected(std::move(rows.error()));
  std::map<std::string, std::string, std::less<>> cites_of;  // of rows between, by the value they lead to
  std::vector<Value> values;
  for (const Row& row : *rows) {
    if (!can_be_key(row.front())) continue;
    const bool fresh =
        cites_of
            .try_emplace(to_text(row.front()), cite(between, fmt::format("rows where {} is given", link.near_column),
                                                    {{link.near_column, own}, {link.far_column, row.front()}}))
            .second;
    if (fresh) values.push_back(row.front());
  }
  const EntityMapping& peer = *link.peer->entity;
  const auto column =
      static_cast<std::size_t>(std::ranges::find(link.peer->brief, link.peer_column) - link.peer->brief.begin());
  std::vector<Peer> peers;
  peers.reserve(values.size());
  for (std::size_t begin = 0; begin < values.size(); begin += kValuesAtOnce) {
    std::vector<Condition> any_of;
    any_of.reserve(kValuesAtOnce);
    // Always as many, so that it is the same statement.
    for (std::size_t i = 0; i < kValuesAtOnce; ++i)
      any_of.push_back({.column = link.peer_column, .value = values[std::min(begin + i, values.size() - 1)]});
    auto found = source_.read({.table = peer.table,
                               .columns = link.peer->brief,
                               .any_of = std::move(any_of),
                               .order_by = peer.id_column,
                               .limit = limit});
    if (!found) return std::unexpected(std::move(found.error()));
    for (Row& row : *found) {
      const std::string met = to_text(row[column]);
      auto node = name(*link.peer, std::move(row),
                       fmt::format("rows where {} equals {}.{}", link.peer_column, between, link.far_column));
      const auto via = cites_of.find(met);
      if (!node || via == cites_of.end()) continue;
      Citations cites = {from.cite, via->second, node->cite};
      peers.push_back({std::move(*node), std::move(cites)});
    }
  }
  std::map<std::string, bool, std::less<>> met;
  for (const Peer& one : peers)
    met.emplace(to_text(one.node.row[column]), true);
  for (const auto& [value, id] : cites_of) {
    if (met.contains(value)) continue;
    gap(Gap::Kind::dangling,
        fmt::format("{} of {} leads nowhere: no row of {} has {} = {}", link.relationship->type, from.reference.ref,
                    peer.table, link.peer_column, log::printable(value, 100)),
        {from.cite, id});
  }
  return peers;
}

}  // namespace proteus::datasets
