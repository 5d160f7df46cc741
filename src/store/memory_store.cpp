#include "store/memory_store.hpp"

#include <algorithm>

namespace proteus::store {

// Nothing in here fails, so that a unit is done whole.
struct MemoryStore::Apply {
  MemoryStore& store;
  Written& written;

  void operator()(PutUpstream& put) {
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
  void operator()(PutSetting& put) { store.settings_.insert_or_assign(put.setting.key, std::move(put.setting.value)); }
  void operator()(PutPin& put) {
    auto& record = put.record;
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
    std::string id = put.record.id;
    store.tool_sessions_.insert_or_assign(std::move(id), std::move(put.record));
  }
  void operator()(const RemoveToolSession& remove) {
    store.tool_sessions_.erase(remove.id);
    std::erase_if(store.session_tools_, [&](const auto& entry) { return entry.first.first == remove.id; });
  }
  void operator()(const TouchToolSession& touch) {
    const auto found = store.tool_sessions_.find(touch.id);
    if (found != store.tool_sessions_.end()) found->second.last_used_at = touch.last_used_at;
  }
  void operator()(PutSessionTool& put) {
    std::pair key(put.record.session, put.record.name);
    store.session_tools_.insert_or_assign(std::move(key), std::move(put.record));
  }
  void operator()(const RemoveSessionTool& remove) { store.session_tools_.erase({remove.session, remove.name}); }
  void operator()(PutToken& put) {
    std::string name = put.record.name;
    store.tokens_.insert_or_assign(std::move(name), std::move(put.record));
  }
  void operator()(const RemoveToken& remove) { store.tokens_.erase(remove.name); }
  void operator()(const TouchToken& touch) {
    const auto found = store.tokens_.find(touch.name);
    if (found != store.tokens_.end()) found->second.last_used_at = touch.last_used_at;
  }
  void operator()(PutSealed& put) {
    std::pair key(put.record.kind, put.record.id);
    store.sealed_.insert_or_assign(std::move(key), std::move(put.record));
  }
  void operator()(const RemoveSealed& remove) { store.sealed_.erase({remove.kind, remove.id}); }
};

Task<Result<Written>> MemoryStore::write(Writes writes) {
  if (auto checked = check(writes); !checked) co_return std::unexpected(std::move(checked.error()));
  Written written;
  const std::lock_guard lock(mutex_);
  for (Write& write : writes)
    std::visit(Apply{*this, written}, write);
  co_return written;
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
  co_return found == settings_.end() ? std::nullopt : std::optional(found->second);
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

Task<Result<std::size_t>> MemoryStore::reseal() { co_return std::size_t{0}; }

}  // namespace proteus::store
