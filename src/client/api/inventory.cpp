#include "client/api/inventory.hpp"

#include <map>
#include <string_view>
#include <utility>

#include "catalog/definitions/definition_list.hpp"
#include "json/canonical.hpp"

namespace proteus::client {
namespace {

using Definitions = std::map<std::string_view, std::string_view>;

bool same(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto first = json::canonical_hash(a);
  const auto second = json::canonical_hash(b);
  return first && second && *first == *second;
}

Definitions by_name(const std::optional<Listing>& listing) {
  Definitions names;
  if (!listing) return names;
  for (const auto& entry : listing->entries)
    names.emplace(entry.name, entry.definition);
  return names;
}

catalog::DefinitionList::Pointer read(catalog::Kind kind, std::string_view text) {
  auto list = catalog::DefinitionList::build(kind, {&text, 1}, {}, {});
  return list && (*list)->size() == 1 ? *list : nullptr;
}

catalog::ChangedDefinition compare(catalog::Kind kind, std::string_view name, std::string_view before,
                                   std::string_view after) {
  const auto old = read(kind, before);
  const auto now = read(kind, after);
  if (!old || !now) {
    return {std::string(name), catalog::Compatibility::breaking, {"one of the definitions is not valid"}};
  }
  auto changed = catalog::compare(kind, old->definitions().front(), now->definitions().front());
  changed.name = name;
  return changed;
}

catalog::KindChange difference(catalog::Kind kind, const Definitions& before, const Definitions& after) {
  catalog::KindChange change;
  for (const auto& [name, definition] : after) {
    const auto found = before.find(name);
    if (found == before.end()) {
      change.added.emplace_back(name);
    } else if (!same(found->second, definition)) {
      change.changed.push_back(compare(kind, name, found->second, definition));
    }
  }
  for (const auto& [name, definition] : before) {
    if (!after.contains(name)) change.removed.emplace_back(name);
  }
  return change;
}

}  // namespace

Task<Result<std::shared_ptr<const Inventory>>> take_inventory(Connection& connection, std::string meta,
                                                              std::shared_ptr<const Inventory> before) {
  auto read = co_await read_all_lists(connection, catalog::KindSet::all(), std::move(meta));
  if (!read.any) co_return std::unexpected(std::move(*read.failure));
  auto inventory = std::make_shared<Inventory>();
  inventory->failures = std::move(read.failures);
  inventory->faults = std::move(read.faults);
  inventory->failure = std::move(read.failure);
  for (const catalog::Kind kind : catalog::kKinds) {
    inventory->lists[kind] = std::move(read.lists[kind]);
    if (!inventory->lists[kind] && before) inventory->lists[kind] = before->lists[kind];
  }
  co_return std::shared_ptr<const Inventory>(std::move(inventory));
}

catalog::Change changes_between(const Inventory* before, const Inventory& after) {
  catalog::PerKind<catalog::KindChange> kinds;
  for (const catalog::Kind kind : catalog::kKinds) {
    const Definitions old = before != nullptr ? by_name(before->lists[kind]) : Definitions();
    kinds[kind] = difference(kind, old, by_name(after.lists[kind]));
  }
  return {.upstream = {}, .kinds = catalog::KindChanges(std::move(kinds))};
}

}  // namespace proteus::client
