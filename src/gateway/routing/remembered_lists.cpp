#include "gateway/routing/remembered_lists.hpp"

#include <algorithm>
#include <functional>

namespace proteus::gateway {
namespace {

std::size_t bytes_of(const ListedNames::Pointer& names) { return names ? names->bytes() : 0; }

}  // namespace

RememberedLists::RememberedLists(const Clock& clock, RememberedListsLimits limits) : clock_(clock), limits_(limits) {}

RememberedLists::Shard& RememberedLists::shard_of(std::string_view key) {
  return shards_[std::hash<std::string_view>{}(key) % shards_.size()];
}

void RememberedLists::Shard::erase(std::list<Caller>::iterator caller) {
  bytes -= caller->bytes;
  by_key.erase(caller->key);
  callers.erase(caller);
}

RememberedLists::Reading RememberedLists::begin(const ServedUpstream& upstream) const {
  return {clock_.now(), upstream->lists_version()};
}

ListedNames::Pointer RememberedLists::find(std::string_view key, const ServedUpstream& upstream, catalog::Kind kind) {
  Shard& shard = shard_of(key);
  const std::scoped_lock lock(shard.mutex);
  const auto found = shard.by_key.find(key);
  if (found == shard.by_key.end()) return nullptr;
  shard.callers.splice(shard.callers.begin(), shard.callers, found->second);
  for (const List& list : found->second->lists) {
    if (list.instance != upstream.instance || list.kind != kind) continue;
    const bool current = list.reading.version == upstream->lists_version() && is_fresh(list, clock_.now());
    return current ? list.names : nullptr;
  }
  return nullptr;
}

void RememberedLists::put(std::string_view key, const ServedUpstream& upstream, catalog::Kind kind, Reading reading,
                          ListedNames::Pointer names) {
  Shard& shard = shard_of(key);
  const std::scoped_lock lock(shard.mutex);
  auto found = shard.by_key.find(key);
  if (found == shard.by_key.end()) {
    Caller& caller = shard.callers.emplace_front(std::string(key));
    caller.bytes = sizeof(Caller) + key.size();
    shard.bytes += caller.bytes;
    found = shard.by_key.emplace(caller.key, shard.callers.begin()).first;
  } else {
    shard.callers.splice(shard.callers.begin(), shard.callers, found->second);
  }
  Caller& caller = *found->second;
  // Lists of upstreams that were replaced are never looked up again.
  const auto outdated = [&](const List& list) { return !is_fresh(list, reading.began); };
  const auto same = [&](const List& list) { return list.instance == upstream.instance && list.kind == kind; };
  auto list = std::ranges::find_if(caller.lists, same);
  if (list != caller.lists.end() && list->reading.began > reading.began) return;
  if (list == caller.lists.end()) {
    std::erase_if(caller.lists, outdated);
    list = caller.lists.insert(caller.lists.end(), {upstream.instance, kind, reading, nullptr});
  }
  list->reading = reading;
  list->names = std::move(names);

  shard.bytes -= caller.bytes;
  caller.bytes = sizeof(Caller) + key.size() + (caller.lists.capacity() * sizeof(List));
  for (const List& each : caller.lists)
    caller.bytes += bytes_of(each.names);
  shard.bytes += caller.bytes;
  while (shard.bytes > limits_.bytes / shards_.size())
    shard.erase(std::prev(shard.callers.end()));
}

void RememberedLists::drop_expired() {
  const auto now = clock_.recent();
  for (Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    for (auto caller = shard.callers.begin(); caller != shard.callers.end();) {
      const auto next = std::next(caller);
      if (std::ranges::none_of(caller->lists, [&](const List& list) { return is_fresh(list, now); })) {
        shard.erase(caller);
      }
      caller = next;
    }
  }
}

std::size_t RememberedLists::bytes() const {
  std::size_t all = 0;
  for (const Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    all += shard.bytes;
  }
  return all;
}

}  // namespace proteus::gateway
