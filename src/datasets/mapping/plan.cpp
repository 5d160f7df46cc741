#include "datasets/mapping/plan.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace proteus::datasets {
namespace {

std::size_t add(std::vector<std::string>& columns, const std::string& column) {
  const auto found = std::ranges::find(columns, column);
  if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  columns.push_back(column);
  return columns.size() - 1;
}

void put_into_words(LinkPlan& link, const EntityPlan& from) {
  if (link.near_column.empty()) {
    link.operation =
        fmt::format("rows where {} equals {}.{}", link.peer_column, from.entity->table, from.brief[link.own]);
    return;
  }
  link.operation =
      fmt::format("rows where {} equals {}.{}", link.peer_column, link.relationship->through_table, link.far_column);
  link.between = fmt::format("rows where {} is given", link.near_column);
}

}  // namespace

std::string_view to_string(Direction direction) { return direction == Direction::outgoing ? "outgoing" : "incoming"; }

Plan::Plan(Mapping mapping, std::string sha256) : mapping_(std::move(mapping)), sha256_(std::move(sha256)) {
  entities_.reserve(mapping_.entities.size());
  for (const EntityMapping& entity : mapping_.entities) {
    EntityPlan& plan = entities_.emplace_back();
    plan.entity = &entity;
    add(plan.brief, entity.id_column);
    if (!entity.name_column.empty()) plan.name = add(plan.brief, entity.name_column);
  }
  const auto plan_of = [this](const std::string& table) -> EntityPlan* {
    const auto found =
        std::ranges::find_if(entities_, [&](const EntityPlan& plan) { return plan.entity->table == table; });
    return found == entities_.end() ? nullptr : &*found;
  };
  for (const RelationshipMapping& one : mapping_.relationships) {
    EntityPlan* const from = plan_of(one.from_table);
    EntityPlan* const to = plan_of(one.to_table);
    if (from == nullptr || to == nullptr) continue;
    from->links.push_back({.relationship = &one,
                           .direction = Direction::outgoing,
                           .own = add(from->brief, one.from_column),
                           .peer = to,
                           .peer_column = one.to_column,
                           .near_column = one.through_from_column,
                           .far_column = one.through_to_column,
                           .operation = {},
                           .between = {}});
    to->links.push_back({.relationship = &one,
                         .direction = Direction::incoming,
                         .own = add(to->brief, one.to_column),
                         .peer = from,
                         .peer_column = one.from_column,
                         .near_column = one.through_to_column,
                         .far_column = one.through_from_column,
                         .operation = {},
                         .between = {}});
  }
  for (EntityPlan& plan : entities_) {
    plan.full = plan.brief;
    plan.attributes.reserve(plan.entity->attribute_columns.size());
    for (const auto& column : plan.entity->attribute_columns)
      plan.attributes.push_back({column, add(plan.full, column)});
    for (LinkPlan& link : plan.links)
      put_into_words(link, plan);
  }
}

}  // namespace proteus::datasets
