#include "client/inventory.hpp"

#include <algorithm>
#include <map>

#include "json/canonical.hpp"

namespace proteus::client {
namespace {

bool same(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto first = json::canonical_hash(a);
  const auto second = json::canonical_hash(b);
  return first && second && *first == *second;
}

std::map<std::string_view, std::string_view> by_name(const Listing& listing) {
  std::map<std::string_view, std::string_view> names;
  for (const auto& entry : listing.entries)
    names.emplace(entry.name, entry.definition);
  return names;
}

}  // namespace

const Listing& Inventory::of(mcp::Method method) const {
  const auto at = std::ranges::find(kListMethods, method) - kListMethods.begin();
  return *lists.at(static_cast<std::size_t>(at));
}

Difference difference(const Listing& before, const Listing& after) {
  Difference result;
  const auto old = by_name(before);
  const auto now = by_name(after);
  for (const auto& [name, definition] : now) {
    const auto found = old.find(name);
    if (found == old.end()) {
      result.added.emplace_back(name);
    } else if (!same(found->second, definition)) {
      result.changed.emplace_back(name);
    }
  }
  for (const auto& [name, definition] : old) {
    if (!now.contains(name)) result.removed.emplace_back(name);
  }
  return result;
}

Task<Result<std::shared_ptr<const Inventory>>> take_inventory(Connection& connection) {
  auto inventory = std::make_shared<Inventory>();
  for (std::size_t i = 0; i < kListMethods.size(); ++i) {
    auto listing = co_await connection.list(kListMethods.at(i));
    if (!listing) co_return std::unexpected(std::move(listing.error()));
    inventory->lists.at(i) = std::make_shared<const Listing>(std::move(*listing));
  }
  co_return std::shared_ptr<const Inventory>(std::move(inventory));
}

}  // namespace proteus::client
