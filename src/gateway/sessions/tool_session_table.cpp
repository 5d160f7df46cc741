#include "gateway/sessions/tool_session_table.hpp"

#include <utility>

#include "base/memory/memory.hpp"

namespace proteus::gateway {

std::shared_ptr<const Principal> ToolSessionTable::find(const json::Digest& token) {
  const TokenShard& home = shard(token);
  const std::scoped_lock lock(home.mutex);
  const auto found = home.entries.find(token);
  if (found == home.entries.end()) return nullptr;
  ToolSession& session = *found->second.session;
  if (has_ended(session)) return nullptr;
  session.touch(clock_.now());
  return found->second.principal;
}

std::shared_ptr<ToolSession> ToolSessionTable::holder(const json::Digest& token) const {
  const TokenShard& home = shard(token);
  const std::scoped_lock lock(home.mutex);
  const auto found = home.entries.find(token);
  if (found == home.entries.end() || has_ended(*found->second.session)) return nullptr;
  return found->second.session;
}

ToolSessionEntry ToolSessionTable::find(const ToolSessionId& id) const {
  const IdShard& home = shard(id);
  const std::scoped_lock lock(home.mutex);
  const auto found = home.entries.find(id.value());
  return found == home.entries.end() ? ToolSessionEntry{} : found->second;
}

void ToolSessionTable::forget_token(const json::Digest& token, const ToolSession& of) {
  TokenShard& home = shard(token);
  const std::scoped_lock lock(home.mutex);
  const auto found = home.entries.find(token);
  if (found != home.entries.end() && found->second.session.get() == &of) home.entries.erase(found);
  let_go_of_buckets(home.entries);
}

void ToolSessionTable::put(const ToolSessionEntry& entry, std::shared_ptr<const SessionBinding> binding) {
  const json::Digest before = entry.session->binding()->token;
  const json::Digest token = binding->token;
  entry.session->bind(std::move(binding));
  {
    IdShard& home = shard(entry.session->id());
    const std::scoped_lock lock(home.mutex);
    // Erases before it adds instead of assigning: the key is a view of the id in the old entry's session.
    count_ -= home.entries.erase(entry.session->id().value());
    home.entries.emplace(entry.session->id().value(), entry);
    ++count_;
  }
  {
    TokenShard& home = shard(token);
    const std::scoped_lock lock(home.mutex);
    home.entries.insert_or_assign(token, entry);
  }
  if (before != token) forget_token(before, *entry.session);
}

void ToolSessionTable::remove(const ToolSession& session) {
  ToolSessionEntry removed;
  {
    IdShard& home = shard(session.id());
    const std::scoped_lock lock(home.mutex);
    const auto found = home.entries.find(session.id().value());
    if (found == home.entries.end() || found->second.session.get() != &session) return;
    removed = std::move(found->second);
    home.entries.erase(found);
    let_go_of_buckets(home.entries);
    --count_;
  }
  forget_token(removed.session->binding()->token, *removed.session);
}

std::vector<ToolSessionEntry> ToolSessionTable::all() const {
  std::vector<ToolSessionEntry> all;
  all.reserve(size());
  for (const IdShard& home : by_id_) {
    const std::scoped_lock lock(home.mutex);
    for (const auto& [id, entry] : home.entries)
      all.push_back(entry);
  }
  return all;
}

}  // namespace proteus::gateway
