#include <algorithm>

#include "store/errors.hpp"
#include "store/memory_store.hpp"

// The part of a MemoryStore that matters when several processes share a store: for tests of code that follows the feed
// or takes leases.
namespace proteus::store {

Result<> MemoryStore::check_conditions(const Writes& writes) const {
  for (const Write& write : writes) {
    Result<> holds;
    if (const auto* expect = std::get_if<Expect>(&write)) {
      const std::uint64_t version = version_of(expect->key);
      if (expect->key.kind == RecordKind::change)
        holds = std::unexpected(proteus::errors::invalid("entries of the change log have no versions"));
      else if (version != expect->version)
        holds = std::unexpected(errors::version_conflict(expect->key, expect->version, version));
    }
    if (const auto* put = std::get_if<PutSnapshot>(&write)) holds = check_fence(put->fence);
    if (const auto* put = std::get_if<PutSealed>(&write)) holds = check_fence(put->fence);
    if (const auto* put = std::get_if<PutToken>(&write)) holds = check_hashes("token " + put->record.name, put->hashes);
    if (const auto* put = std::get_if<PutToolSession>(&write))
      holds = check_hashes("session " + put->record.id, put->hashes);
    if (!holds) return holds;
  }
  return {};
}

Result<> MemoryStore::check_hashes(const std::string& owner, const std::vector<std::string>& hashes) const {
  for (const std::string& hash : hashes) {
    const auto found = hash_owners_.find(hash);
    if (found != hash_owners_.end() && found->second != owner) return std::unexpected(errors::token_taken());
  }
  return {};
}

Result<> MemoryStore::check_fence(const std::optional<Fence>& fence) const {
  if (!fence) return {};
  const auto found = leases_.find(fence->lease);
  if (found == leases_.end() || found->second.token != fence->token) return std::unexpected(errors::lease_lost(*fence));
  return {};
}

std::uint64_t MemoryStore::version_of(const RecordKey& key) const {
  const auto in = [](const auto& map, const auto& at) {
    const auto found = map.find(at);
    return found == map.end() ? 0 : found->second.stored.version;
  };
  switch (key.kind) {
    case RecordKind::upstream: {
      const auto found = std::ranges::find(upstreams_, key.name, &UpstreamRecord::name);
      return found == upstreams_.end() ? 0 : found->stored.version;
    }
    case RecordKind::snapshot: return in(snapshots_, std::pair(key.name, key.part));
    case RecordKind::setting: return in(settings_, key.name);
    case RecordKind::pins: {
      std::uint64_t newest = 0;
      for (const auto& [id, record] : pins_) {
        if (record.upstream == key.name) newest = std::max(newest, record.stored.version);
      }
      return newest;
    }
    case RecordKind::tool_session: return in(tool_sessions_, key.name);
    case RecordKind::session_tool: return in(session_tools_, std::pair(key.name, key.part));
    case RecordKind::token: return in(tokens_, key.name);
    case RecordKind::sealed: return in(sealed_, std::pair(key.name, key.part));
    case RecordKind::change: break;
  }
  return 0;
}

void MemoryStore::put_hashes(const std::string& owner, const std::vector<std::string>& hashes) {
  const auto before = owned_hashes_.find(owner);
  if (before != owned_hashes_.end()) {
    for (const std::string& hash : before->second)
      hash_owners_.erase(hash);
    owned_hashes_.erase(before);
  }
  if (hashes.empty()) return;
  for (const std::string& hash : hashes)
    hash_owners_.insert_or_assign(hash, owner);
  owned_hashes_.insert_or_assign(owner, hashes);
}

void MemoryStore::append_to_feed(RecordKey key) {
  if (retention_.feed == 0) return;
  feed_.push_back({newest_version_, std::move(key)});
  while (feed_.size() > retention_.feed)
    feed_.pop_front();
}

Task<Result<FeedPage>> MemoryStore::feed(std::uint64_t since, std::size_t limit) {
  limit = std::min(limit, limits::kRows);
  const std::lock_guard lock(mutex_);
  FeedPage page{.entries = {}, .oldest = feed_.empty() ? 0 : feed_.front().number, .newest = newest_version_};
  for (auto at = std::ranges::upper_bound(feed_, since, {}, &FeedEntry::number);
       at != feed_.end() && page.entries.size() < limit; ++at)
    page.entries.push_back(*at);
  co_return page;
}

Task<Result<std::vector<MemberRecord>>> MemoryStore::members() {
  const auto now = std::chrono::steady_clock::now();
  std::vector<MemberRecord> records;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, member] : members_) {
    records.push_back(member.record);
    records.back().unseen = std::chrono::floor<std::chrono::microseconds>(now - member.seen_at);
  }
  co_return records;
}

Task<Result<std::vector<LeaseRecord>>> MemoryStore::leases() {
  std::vector<LeaseRecord> records;
  const std::lock_guard lock(mutex_);
  records.reserve(leases_.size());
  for (const auto& [name, lease] : leases_)
    records.push_back(lease);
  co_return records;
}

}  // namespace proteus::store
