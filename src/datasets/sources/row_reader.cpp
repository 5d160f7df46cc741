#include "datasets/sources/row_reader.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

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

std::string name_of(const Value& value) {
  const auto* const text = std::get_if<Text>(&value);
  if (text == nullptr) return to_text(value);
  if (text->text.size() <= kLongestName) return text->text;
  return take_text(text->text, kLongestName).text + "…";
}

}  // namespace

void RowReader::gap(Gap::Kind kind, std::string message, Citations cites) {
  if (workup_.gaps.size() < kMaxGaps) workup_.gaps.push_back({kind, std::move(message), cites});
}

std::uint32_t RowReader::cite(Provenance row) {
  workup_.provenance.push_back(std::move(row));
  return static_cast<std::uint32_t>(workup_.provenance.size());
}

std::uint32_t RowReader::cite_between(const LinkPlan& link, const Value& own, const Value& far) {
  const std::string& table = link.relationship->through_table;
  auto [found, fresh] = between_.try_emplace(
      fmt::format("{}\n{}\n{}\n{}\n{}", table, link.near_column, to_text(own), link.far_column, to_text(far)));
  if (fresh) {
    found->second = cite({.table = table,
                          .operation = link.between,
                          .key = {link.near_column, own},
                          .other = Provenance::Key{link.far_column, far}});
  }
  return found->second;
}

const Reference* RowReader::name(const EntityPlan& plan, Row row, std::string_view operation) {
  const EntityMapping& entity = *plan.entity;
  const Value& id = row.front();
  if (!can_be_key(id)) {
    gap(Gap::Kind::no_id, fmt::format("a row of {} was left out: its {} is {}", entity.table, entity.id_column,
                                      is_null(id) ? "null" : "nothing that it could be named by"));
    return nullptr;
  }
  ref_.assign(entity.table).push_back('/');
  append_text(ref_, id);
  // A table's name may hold a slash, so that two tables can make the same text.
  const auto known = named_.find(ref_);
  if (known != named_.end() && known->second->id_at == entity.table.size() + 1) return known->second;
  Reference& made = workup_.named.emplace_back(Reference{
      .ref = ref_,
      .id_at = entity.table.size() + 1,
      .name = plan.name ? name_of(row[*plan.name]) : std::string(),
      .type = entity.type,
      .cite = cite({.table = entity.table, .operation = operation, .key = {.column = entity.id_column, .value = id}})});
  if (made.name.empty()) made.name = made.id();
  named_.emplace(made.ref, &made);
  return &made;
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
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Row row = (*rows)[i];
    const Reference* const named = name(plan, row, operation);
    if (named == nullptr) continue;
    nodes.push_back({&plan, named, {std::make_move_iterator(row.begin()), std::make_move_iterator(row.end())}});
  }
  return nodes;
}

Result<Peers> RowReader::follow(const Node& from, const LinkPlan& link, std::size_t limit) {
  const Value& own = from.row[link.own];
  if (is_null(own)) return Peers{};
  if (!can_be_key(own)) {
    gap(Gap::Kind::not_text,
        fmt::format("{} of {} cannot be followed: {} is not a value to find rows by", link.relationship->type,
                    from.reference->ref, from.plan->brief[link.own]),
        {from.reference->cite});
    return Peers{};
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
        fmt::format("{} of {} leads nowhere: no row of {} has {} = {}", link.relationship->type, from.reference->ref,
                    peer.table, link.peer_column, log::printable(to_text(own), 100)),
        {from.reference->cite});
  }
  Peers peers;
  peers.all.reserve(rows->size());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Row row = (*rows)[i];
    const Reference* const named = name(*link.peer, row, link.operation);
    if (named == nullptr) continue;
    Citations cites = {from.reference->cite};
    if (named->cite != from.reference->cite) cites.push_back(named->cite);
    peers.all.push_back({named, row, cites});
  }
  peers.read.push_back(std::move(*rows));
  return peers;
}

Result<Peers> RowReader::follow_through(const Node& from, const LinkPlan& link, const Value& own, std::size_t limit) {
  const std::string& between = link.relationship->through_table;
  auto rows = source_.read({.table = between,
                            .columns = std::span(&link.far_column, 1),
                            .any_of = {{.column = link.near_column, .value = own}},
                            .order_by = link.far_column,
                            .limit = limit});
  if (!rows) return std::unexpected(std::move(rows.error()));
  std::map<std::string, std::uint32_t, std::less<>> cites_of;  // of rows between, by the value they lead to
  std::vector<Value> values;
  values.reserve(rows->size());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Value& far = (*rows)[i].front();
    if (!can_be_key(far)) continue;
    if (cites_of.try_emplace(to_text(far), cite_between(link, own, far)).second) values.push_back(far);
  }
  const EntityMapping& peer = *link.peer->entity;
  const auto column =
      static_cast<std::size_t>(std::ranges::find(link.peer->brief, link.peer_column) - link.peer->brief.begin());
  Peers peers;
  peers.all.reserve(values.size());
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
    for (std::size_t i = 0; i < found->size(); ++i) {
      const Row row = (*found)[i];
      const auto via = cites_of.find(to_text(row[column]));
      const Reference* const named = name(*link.peer, row, link.operation);
      if (named == nullptr || via == cites_of.end()) continue;
      peers.all.push_back({named, row, {from.reference->cite, via->second, named->cite}});
    }
    peers.read.push_back(std::move(*found));
  }
  std::set<std::string, std::less<>> met;
  for (const Peer& one : peers.all)
    met.insert(to_text(one.row[column]));
  for (const auto& [value, id] : cites_of) {
    if (met.contains(value)) continue;
    gap(Gap::Kind::dangling,
        fmt::format("{} of {} leads nowhere: no row of {} has {} = {}", link.relationship->type, from.reference->ref,
                    peer.table, link.peer_column, log::printable(value, 100)),
        {from.reference->cite, id});
  }
  return peers;
}

}  // namespace proteus::datasets
