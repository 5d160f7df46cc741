#include "store/memory_store.hpp"

#include <algorithm>

namespace proteus::store {
namespace {

std::string session_owner(const std::string& id) { return "session " + id; }
std::string token_owner(const std::string& name) { return "token " + name; }

template <class Map>
auto copy_of(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

// Applies a write. Nothing in here fails, because the conditions of the unit were checked before: so the unit is
// applied whole.
struct MemoryStore::Apply {
  MemoryStore& store;
  Written& written;
  std::uint64_t version;  // of the record to write

  void operator()(PutUpstream& put) {
    put.record.stored.version = version;
    auto& all = store.upstreams_;
    const auto same = std::ranges::find(all, put.record.name, &UpstreamRecord::name);
    if (same == all.end()) {
      all.push_back(std::move(put.record));
    } else {
      *same = std::move(put.record);
    }
  }
  void operator()(const RemoveUpstream& remove) {
    std::erase_if(store.upstreams_, [&](const UpstreamRecord& record) { return record.name == remove.name; });
  }
  void operator()(PutSnapshot& put) {
    put.record.stored.version = version;
    std::pair key(put.record.upstream, put.record.kind);
    store.snapshots_.insert_or_assign(std::move(key), std::move(put.record));
  }
  void operator()(const RemoveSnapshots& remove) {
    std::erase_if(store.snapshots_, [&](const auto& entry) { return entry.first.first == remove.upstream; });
  }
  void operator()(AppendChange& append) {
    append.record.number = ++store.newest_change_;
    written.changes.push_back(append.record.number);
    store.changes_.push_back(std::move(append.record));
    while (store.changes_.size() > std::max<std::size_t>(store.retention_.changes, 1))
      store.changes_.pop_front();
  }
  void operator()(AppendAudit& append) {
    append.record.number = ++store.newest_audit_;
    store.audits_.push_back(std::move(append.record));
    while (store.audits_.size() > std::max<std::size_t>(store.retention_.audits, 1))
      store.audits_.pop_front();
  }
  void operator()(PutSetting& put) {
    put.setting.stored.version = version;
    std::string key = put.setting.key;
    store.settings_.insert_or_assign(std::move(key), std::move(put.setting));
  }
  void operator()(const RemoveSetting& remove) { store.settings_.erase(remove.key); }
  void operator()(PutPin& put) {
    auto& record = put.record;
    record.stored.version = version;
    if (record.verdict == Verdict::ratified) {
      std::erase_if(store.pins_, [&](const auto& entry) {
        const PinRecord& other = entry.second;
        return other.verdict == Verdict::ratified && other.upstream == record.upstream && other.kind == record.kind &&
               other.name == record.name;
      });
    }
    std::tuple key(record.upstream, record.kind, record.name, record.hash);
    store.pins_.insert_or_assign(std::move(key), std::move(record));
  }
  void operator()(PutToolSession& put) {
    put.record.stored.version = version;
    store.put_hashes(session_owner(put.record.id), put.hashes);
    std::string id = put.record.id;
    store.tool_sessions_.insert_or_assign(std::move(id), std::move(put.record));
  }
  void operator()(const RemoveToolSession& remove) {
    store.put_hashes(session_owner(remove.id), {});
    store.tool_sessions_.erase(remove.id);
    std::erase_if(store.session_tools_, [&](const auto& entry) { return entry.first.first == remove.id; });
  }
  void operator()(const TouchToolSession& touch) {
    const auto found = store.tool_sessions_.find(touch.id);
    if (found == store.tool_sessions_.end()) return;
    found->second.last_used_at = std::max(found->second.last_used_at, touch.last_used_at);
  }
  void operator()(PutSessionTool& put) {
    put.record.stored.version = version;
    std::pair key(put.record.session, put.record.name);
    store.session_tools_.insert_or_assign(std::move(key), std::move(put.record));
  }
  void operator()(const RemoveSessionTool& remove) { store.session_tools_.erase({remove.session, remove.name}); }
  void operator()(PutToken& put) {
    put.record.stored.version = version;
    store.put_hashes(token_owner(put.record.name), put.hashes);
    std::string name = put.record.name;
    store.tokens_.insert_or_assign(std::move(name), std::move(put.record));
  }
  void operator()(const RemoveToken& remove) {
    store.put_hashes(token_owner(remove.name), {});
    store.tokens_.erase(remove.name);
  }
  void operator()(const TouchToken& touch) {
    const auto found = store.tokens_.find(touch.name);
    if (found == store.tokens_.end()) return;
    found->second.last_used_at = std::max(found->second.last_used_at, touch.last_used_at);
  }
  void operator()(PutSealed& put) {
    put.record.stored.version = version;
    std::pair key(put.record.kind, put.record.id);
    store.sealed_.insert_or_assign(std::move(key), std::move(put.record));
  }
  void operator()(const RemoveSealed& remove) { store.sealed_.erase({remove.kind, remove.id}); }
  void operator()(const Expect& /*unused*/) {}
  void operator()(Attend& attend) {
    std::string name = attend.record.name;
    store.members_.insert_or_assign(std::move(name),
                                    Member{std::move(attend.record), std::chrono::steady_clock::now()});
  }
  void operator()(const Leave& leave) {
    store.members_.erase(leave.member);
    std::erase_if(store.leases_, [&](const auto& entry) { return entry.second.owner == leave.member; });
  }
  void operator()(const TakeLeases& take) {
    const auto seen_after = std::chrono::steady_clock::now() - take.patience;
    for (const std::string& name : take.names) {
      ++store.newest_lease_;
      auto& lease = store.leases_.try_emplace(name, LeaseRecord{.name = name, .owner = {}}).first->second;
      const auto owner = store.members_.find(lease.owner);
      const bool lives = owner != store.members_.end() && owner->second.seen_at > seen_after;
      if (lease.owner != take.owner && !lives) lease = {name, take.owner, store.newest_lease_};
      if (lease.owner == take.owner) written.leases.push_back(lease);
    }
  }
  void operator()(const ReleaseLeases& release) {
    for (const std::string& name : release.names) {
      const auto found = store.leases_.find(name);
      if (found != store.leases_.end() && found->second.owner == release.owner) store.leases_.erase(found);
    }
  }
};

Task<Result<Written>> MemoryStore::write(Writes writes) {
  if (auto checked = check(writes); !checked) co_return std::unexpected(std::move(checked.error()));
  Written written;
  {
    const std::lock_guard lock(mutex_);
    if (auto holds = check_conditions(writes); !holds) co_return std::unexpected(std::move(holds.error()));
    for (Write& write : writes) {
      auto key = key_of(write);
      if (key) written.versions.push_back(++newest_version_);
      std::visit(Apply{*this, written, newest_version_}, write);
      if (key) append_to_feed(std::move(*key));
    }
  }
  if (!written.versions.empty()) {
    const std::lock_guard lock(feed_mutex_);
    if (feed_grew_) feed_grew_();
  }
  co_return written;
}

void MemoryStore::on_feed(std::function<void()> grew) {
  const std::lock_guard lock(feed_mutex_);
  feed_grew_ = std::move(grew);
}

Task<Result<std::vector<UpstreamRecord>>> MemoryStore::upstreams() {
  const std::lock_guard lock(mutex_);
  co_return upstreams_;
}

Task<Result<std::vector<SnapshotRecord>>> MemoryStore::snapshots() {
  std::vector<SnapshotRecord> records;
  const std::lock_guard lock(mutex_);
  records.reserve(snapshots_.size());
  for (const auto& [key, record] : snapshots_)
    records.push_back(record);
  co_return records;
}

Task<Result<std::vector<SnapshotRecord>>> MemoryStore::snapshots_of(std::string upstream) {
  std::vector<SnapshotRecord> records;
  const std::lock_guard lock(mutex_);
  for (auto at = snapshots_.lower_bound({upstream, {}}); at != snapshots_.end() && at->first.first == upstream; ++at)
    records.push_back(at->second);
  co_return records;
}

Task<Result<ChangePage>> MemoryStore::changes(std::uint64_t since, std::size_t limit) {
  limit = std::min(limit, limits::kRows);
  std::size_t bytes = 0;
  const std::lock_guard lock(mutex_);
  ChangePage page{.changes = {}, .oldest = changes_.empty() ? 0 : changes_.front().number, .newest = newest_change_};
  for (auto at = std::ranges::upper_bound(changes_, since, {}, &ChangeRecord::number); at != changes_.end(); ++at) {
    bytes += at->change.size();
    if (page.changes.size() == limit || (!page.changes.empty() && bytes > limits::kPage)) break;
    page.changes.push_back(*at);
  }
  co_return page;
}

Task<Result<std::vector<AuditRecord>>> MemoryStore::audits(std::size_t limit, std::optional<std::uint64_t> before) {
  limit = std::min(limit, limits::kRows);
  std::size_t bytes = 0;
  std::vector<AuditRecord> records;
  const std::lock_guard lock(mutex_);
  for (auto at = audits_.rbegin(); at != audits_.rend(); ++at) {
    if (before && at->number >= *before) continue;
    bytes += at->detail.size();
    if (records.size() == limit || (!records.empty() && bytes > limits::kPage)) break;
    records.push_back(*at);
  }
  co_return records;
}

Task<Result<std::optional<std::string>>> MemoryStore::setting(std::string key) {
  const std::lock_guard lock(mutex_);
  const auto found = settings_.find(key);
  co_return found == settings_.end() ? std::nullopt : std::optional(found->second.value);
}

Task<Result<std::vector<PinRecord>>> MemoryStore::pins_of(std::string upstream) {
  std::vector<PinRecord> records;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, record] : pins_) {
    if (record.upstream == upstream) records.push_back(record);
  }
  co_return records;
}

Task<Result<std::vector<ToolSessionRecord>>> MemoryStore::tool_sessions() {
  std::vector<ToolSessionRecord> records;
  const std::lock_guard lock(mutex_);
  records.reserve(tool_sessions_.size());
  for (const auto& [id, record] : tool_sessions_)
    records.push_back(record);
  co_return records;
}

Task<Result<std::vector<SessionToolRecord>>> MemoryStore::session_tools() {
  std::vector<SessionToolRecord> records;
  const std::lock_guard lock(mutex_);
  records.reserve(session_tools_.size());
  for (const auto& [key, record] : session_tools_)
    records.push_back(record);
  co_return records;
}

Task<Result<std::vector<TokenRecord>>> MemoryStore::tokens() {
  std::vector<TokenRecord> records;
  const std::lock_guard lock(mutex_);
  records.reserve(tokens_.size());
  for (const auto& [name, record] : tokens_)
    records.push_back(record);
  co_return records;
}

Task<Result<std::vector<SealedRecord>>> MemoryStore::sealed(std::string kind) {
  std::vector<SealedRecord> records;
  const std::lock_guard lock(mutex_);
  for (auto at = sealed_.lower_bound({kind, {}}); at != sealed_.end() && at->first.first == kind; ++at)
    records.push_back(at->second);
  co_return records;
}

Task<Result<std::optional<SealedRecord>>> MemoryStore::sealed_record(std::string kind, std::string id) {
  const std::lock_guard lock(mutex_);
  const auto found = sealed_.find({kind, id});
  co_return found == sealed_.end() ? std::nullopt : std::optional(found->second);
}

Task<Result<std::size_t>> MemoryStore::reseal() { co_return std::size_t{0}; }

Task<Result<std::optional<UpstreamRecord>>> MemoryStore::upstream(std::string name) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(upstreams_, name, &UpstreamRecord::name);
  co_return found == upstreams_.end() ? std::nullopt : std::optional(*found);
}

Task<Result<std::vector<Setting>>> MemoryStore::settings(std::string prefix) {
  std::vector<Setting> records;
  const std::lock_guard lock(mutex_);
  for (auto at = settings_.lower_bound(prefix); at != settings_.end() && at->first.starts_with(prefix); ++at)
    records.push_back(at->second);
  co_return records;
}

Task<Result<std::optional<ToolSessionRecord>>> MemoryStore::tool_session(std::string id) {
  const std::lock_guard lock(mutex_);
  co_return copy_of(tool_sessions_, id);
}

Task<Result<std::vector<SessionToolRecord>>> MemoryStore::session_tools_of(std::string session) {
  std::vector<SessionToolRecord> records;
  const std::lock_guard lock(mutex_);
  for (auto at = session_tools_.lower_bound({session, {}}); at != session_tools_.end() && at->first.first == session;
       ++at)
    records.push_back(at->second);
  co_return records;
}

Task<Result<std::optional<TokenRecord>>> MemoryStore::token(std::string name) {
  const std::lock_guard lock(mutex_);
  co_return copy_of(tokens_, name);
}

}  // namespace proteus::store
