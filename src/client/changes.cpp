#include "client/changes.hpp"

#include <algorithm>

#include "catalog/change.hpp"
#include "catalog/definition_list.hpp"

namespace proteus::client {
namespace {

catalog::Kind kind_of(mcp::Method list) {
  for (const catalog::Kind kind : catalog::kKinds) {
    if (catalog::info(kind).list_method == list) return kind;
  }
  return catalog::Kind::tool;
}

const Entry* find(const Listing& listing, const std::string& name) {
  const auto found = std::ranges::find(listing.entries, name, &Entry::name);
  return found == listing.entries.end() ? nullptr : &*found;
}

catalog::DefinitionList::Pointer read(catalog::Kind kind, std::string_view text) {
  auto list = catalog::DefinitionList::build(kind, {&text, 1}, {}, {});
  return list && (*list)->size() == 1 ? *list : nullptr;
}

std::vector<Change::Breaking> breaking(mcp::Method list, const std::vector<std::string>& names, const Listing& before,
                                       const Listing& after) {
  std::vector<Change::Breaking> found;
  const catalog::Kind kind = kind_of(list);
  for (const auto& name : names) {
    const auto old = read(kind, find(before, name)->definition);
    const auto now = read(kind, find(after, name)->definition);
    if (!old || !now) {
      found.push_back({name, {"one of the definitions is not valid"}});
      continue;
    }
    auto compared = catalog::compare(kind, old->definitions().front(), now->definitions().front());
    if (compared.compatibility == catalog::Compatibility::breaking) {
      found.push_back({name, std::move(compared.reasons)});
    }
  }
  return found;
}

}  // namespace

std::vector<ListChange> changes_between(const Inventory* before, const Inventory& after) {
  static const Listing nothing;
  std::vector<ListChange> changes;
  for (const mcp::Method list : kListMethods) {
    const Listing& old = before != nullptr ? before->of(list) : nothing;
    const Listing& now = after.of(list);
    Difference found = difference(old, now);
    if (found.empty()) continue;
    auto broken = breaking(list, found.changed, old, now);
    changes.push_back({list, std::move(found), std::move(broken)});
  }
  return changes;
}

}  // namespace proteus::client
