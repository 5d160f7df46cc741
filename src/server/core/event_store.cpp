#include "server/core/event_store.hpp"

#include <functional>

namespace proteus::server {
namespace {

// Estimated overhead of an event, which matters for small ones.
constexpr std::size_t kPerEvent = 128;

std::size_t cost(std::string_view message) { return message.size() + kPerEvent; }

}  // namespace

std::size_t MemoryEventStore::Hash::operator()(const EventStreamId& id) const {
  return std::hash<std::string>{}(id.session) * 31 + id.stream;
}

void MemoryEventStore::Shard::drop_oldest(Stream& stream) {
  const auto oldest = stream.events.front();
  const std::size_t freed = cost(oldest->event.message);
  stream.events.pop_front();
  stream.bytes -= freed;
  bytes -= freed;
  by_age.erase(oldest);
}

void MemoryEventStore::append(const EventStreamId& id, std::uint64_t number, std::string_view message) {
  Shard& home = shard_of(id);
  const std::scoped_lock lock(home.mutex);
  const auto at = home.streams.try_emplace(id).first;
  Stream& stream = at->second;
  stream.id = &at->first;
  home.by_age.push_back({&stream, {number, std::string(message)}});
  stream.events.push_back(std::prev(home.by_age.end()));
  stream.bytes += cost(message);
  home.bytes += cost(message);
  while (stream.events.size() > limits_.events_per_stream ||
         (stream.bytes > limits_.bytes_per_stream && stream.events.size() > 1)) {
    give_up_oldest(home, stream);
  }
  // The oldest event of a shard is also the oldest of its own stream, so no stream gets a gap.
  while (home.bytes > limits_.bytes / shards_.size() && home.by_age.size() > 1)
    give_up_oldest(home, *home.by_age.front().stream);
}

void MemoryEventStore::give_up_oldest(Shard& home, Stream& stream) {
  if (on_given_up_) on_given_up_(*stream.id, stream.events.front()->event.number);
  home.drop_oldest(stream);
}

Task<Result<std::vector<KeptEvent>>> MemoryEventStore::read_after(EventStreamId id, std::uint64_t number) {
  co_return kept_after(id, number).value_or(std::vector<KeptEvent>());
}

std::optional<std::vector<KeptEvent>> MemoryEventStore::kept_after(const EventStreamId& id, std::uint64_t number) {
  Shard& home = shard_of(id);
  const std::scoped_lock lock(home.mutex);
  const auto found = home.streams.find(id);
  if (found == home.streams.end()) return std::nullopt;
  std::vector<KeptEvent> kept;
  kept.reserve(found->second.events.size());
  for (const auto& event : found->second.events) {
    if (event->event.number > number) kept.push_back(event->event);
  }
  return kept;
}

void MemoryEventStore::forget(const EventStreamId& id) {
  Shard& home = shard_of(id);
  const std::scoped_lock lock(home.mutex);
  const auto found = home.streams.find(id);
  if (found == home.streams.end()) return;
  while (!found->second.events.empty())
    home.drop_oldest(found->second);
  home.streams.erase(found);
}

std::size_t MemoryEventStore::bytes() const {
  std::size_t all = 0;
  for (const Shard& home : shards_) {
    const std::scoped_lock lock(home.mutex);
    all += home.bytes;
  }
  return all;
}

}  // namespace proteus::server
