#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/sessions/tool_session.hpp"

namespace proteus::gateway {

// A session, and who its token makes its holder.
struct ToolSessionEntry {
  std::shared_ptr<ToolSession> session;
  std::shared_ptr<const Principal> principal;

  explicit operator bool() const { return session != nullptr; }
};

// The tool sessions there are, by token and by id. Thread-safe: a look-up takes one short lock of many. Tokens are
// found by their hash, so that neither time nor a dump of the table tells one.
class ToolSessionTable {
 public:
  ToolSessionTable(const Clock& clock, std::chrono::milliseconds idle) : clock_(clock), idle_(idle) {}

  // Whose token it is; that is use of the session. Null where it is nobody's, or of one that was idle for too long.
  std::shared_ptr<const Principal> find(const json::Digest& token);
  // By id, also one that was idle for too long; empty where there is none.
  ToolSessionEntry find(const ToolSessionId& id) const;
  // The session of a token that was not idle for too long.
  std::shared_ptr<ToolSession> holder(const json::Digest& token) const;
  // For that long, and `longer`.
  bool is_idle(const ToolSession& session, std::chrono::milliseconds longer = {}) const {
    return clock_.now() - session.last_used() >= idle_ + longer;
  }

  // A new session, or one that is there already and is bound anew: at no moment is it unknown, and a token that it had
  // before is nobody's afterwards. Another one of the same id must have been removed.
  void put(const ToolSessionEntry& entry, std::shared_ptr<const SessionBinding> binding);
  void remove(const ToolSession& session);

  std::size_t size() const { return count_.load(std::memory_order_relaxed); }
  std::vector<ToolSessionEntry> all() const;

 private:
  static constexpr std::size_t kShards = 64;
  struct TokenShard {
    mutable std::mutex mutex;
    std::unordered_map<json::Digest, ToolSessionEntry, DigestHash> entries;
  };
  struct IdShard {
    mutable std::mutex mutex;
    // The keys are the sessions' own ids.
    std::unordered_map<std::string_view, ToolSessionEntry> entries;
  };
  TokenShard& shard(const json::Digest& token) { return by_token_[token[31] % kShards]; }
  const TokenShard& shard(const json::Digest& token) const { return by_token_[token[31] % kShards]; }
  IdShard& shard(const ToolSessionId& id) { return by_id_[std::hash<ToolSessionId>{}(id) % kShards]; }
  const IdShard& shard(const ToolSessionId& id) const { return by_id_[std::hash<ToolSessionId>{}(id) % kShards]; }
  void forget_token(const json::Digest& token, const ToolSession& of);

  const Clock& clock_;
  const std::chrono::milliseconds idle_;
  std::atomic<std::size_t> count_ = 0;
  std::array<TokenShard, kShards> by_token_;
  std::array<IdShard, kShards> by_id_;
};

}  // namespace proteus::gateway
