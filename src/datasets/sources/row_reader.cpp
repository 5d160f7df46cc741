#include "datasets/sources/row_reader.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/text/ascii.hpp"

namespace proteus::datasets {
namespace {

constexpr std::size_t kMaxGaps = 100;
constexpr std::size_t kLongestName = 200;
constexpr std::size_t kValuesAtOnce = 50;

bool is_cut(const Value& value) {
  const auto* text = std::get_if<Text>(&value);
  return text != nullptr && (text->whole > text->text.size() || text->repaired);
}

// Returns whether rows can be found by the value.
bool can_be_key(const Value& value) {
  return !is_null(value) && !std::holds_alternative<Bytes>(value) && !is_cut(value);
}

std::string name_of(const Value& value) {
  const auto* const text = std::get_if<Text>(&value);
  if (text == nullptr) return to_text(value);
  if (text->text.size() <= kLongestName) return text->text;
  return take_text(text->text, kLongestName).text + "…";
}

// The rows of a table between two entities, by the values that lead to peers. A database may find a peer by a value
// that differs from the peer's own in case, or as 7 differs from 7.00.
class RowsBetween {
 public:
  // Returns false if there is a row with this value already.
  bool add(std::string value, std::uint32_t cite) { return rows_.try_emplace(std::move(value), Row{cite}).second; }

  // Returns the citation of the row that leads to a peer with this value, and marks the row as met.
  std::optional<std::uint32_t> meet(const std::string& value) {
    auto found = rows_.find(value);
    if (found == rows_.end()) {
      if (by_folded_.empty()) {
        for (auto row = rows_.begin(); row != rows_.end(); ++row)
          by_folded_.try_emplace(fold(row->first), row);
      }
      const auto folded = by_folded_.find(fold(value));
      if (folded == by_folded_.end()) return std::nullopt;
      found = folded->second;
    }
    found->second.met = true;
    return found->second.cite;
  }

  std::vector<std::pair<std::string_view, std::uint32_t>> not_met() const {
    std::vector<std::pair<std::string_view, std::uint32_t>> out;
    for (const auto& [value, row] : rows_)
      if (!row.met) out.emplace_back(value, row.cite);
    return out;
  }

 private:
  struct Row {
    std::uint32_t cite;
    bool met = false;
  };
  using Rows = std::map<std::string, Row>;

  static std::string fold(const std::string& value) { return shortest_decimal(value).value_or(lower_case(value)); }

  Rows rows_;
  std::map<std::string, Rows::iterator> by_folded_;
};

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
  // The name of a table may contain a slash, so that two tables can make the same text.
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
                            .any_of = {{.column = link.peer_column, .comparison = Comparison::same_key, .value = own}},
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
  peers.more = rows->size() == limit && !is_null((*rows)[limit - 1].front());  // nulls are last
  peers.read.push_back(std::move(*rows));
  return peers;
}

Result<Peers> RowReader::follow_through(const Node& from, const LinkPlan& link, const Value& own, std::size_t limit) {
  const std::string& between = link.relationship->through_table;
  auto rows = source_.read({.table = between,
                            .columns = std::span(&link.far_column, 1),
                            .any_of = {{.column = link.near_column, .comparison = Comparison::same_key, .value = own}},
                            .order_by = link.far_column,
                            .limit = limit + 1,
                            .distinct = true});
  if (!rows) return std::unexpected(std::move(rows.error()));
  Peers peers;
  peers.more = rows->size() > limit && !is_null((*rows)[limit].front());  // nulls are last
  RowsBetween leading;
  std::vector<Value> values;
  values.reserve(rows->size());
  for (std::size_t i = 0; i < std::min(rows->size(), limit); ++i) {
    const Value& far = (*rows)[i].front();
    if (!can_be_key(far)) continue;
    if (leading.add(to_text(far), cite_between(link, own, far))) values.push_back(far);
  }
  const EntityMapping& peer = *link.peer->entity;
  const auto column =
      static_cast<std::size_t>(std::ranges::find(link.peer->brief, link.peer_column) - link.peer->brief.begin());
  std::set<const Reference*> known;  // several values may lead to one peer
  bool read_all = true;
  peers.all.reserve(values.size());
  for (std::size_t begin = 0; begin < values.size(); begin += kValuesAtOnce) {
    std::vector<Condition> any_of;
    any_of.reserve(kValuesAtOnce);
    // Always the same number of conditions, so that the statement is the same.
    for (std::size_t i = 0; i < kValuesAtOnce; ++i)
      any_of.push_back({.column = link.peer_column,
                        .comparison = Comparison::same_key,
                        .value = values[std::min(begin + i, values.size() - 1)]});
    auto found = source_.read({.table = peer.table,
                               .columns = link.peer->brief,
                               .any_of = std::move(any_of),
                               .order_by = peer.id_column,
                               .limit = limit});
    if (!found) return std::unexpected(std::move(found.error()));
    if (found->size() == limit) read_all = false;
    for (std::size_t i = 0; i < found->size(); ++i) {
      const Row row = (*found)[i];
      const auto via = leading.meet(to_text(row[column]));
      const Reference* const named = name(*link.peer, row, link.operation);
      if (named == nullptr || !via || !known.insert(named).second) continue;
      peers.all.push_back({named, row, {from.reference->cite, *via, named->cite}});
    }
    peers.read.push_back(std::move(*found));
  }
  if (!read_all) {
    peers.more = true;
    return peers;
  }
  for (const auto& [value, cite] : leading.not_met()) {
    gap(Gap::Kind::dangling,
        fmt::format("{} of {} leads nowhere: no row of {} has {} = {}", link.relationship->type, from.reference->ref,
                    peer.table, link.peer_column, log::printable(value, 100)),
        {from.reference->cite, cite});
  }
  return peers;
}

}  // namespace proteus::datasets
