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

// A session and the principal that its token stands for.
struct ToolSessionEntry {
  std::shared_ptr<ToolSession> session;
  std::shared_ptr<const Principal> principal;

  explicit operator bool() const { return session != nullptr; }
};

// All tool sessions, by token and by id. Thread-safe: a lookup takes one of many short locks. Finds tokens by their
// hash, so that neither timing nor a memory dump reveals a token.
//
// If other processes serve the same sessions, a session that is idle here may be in use there. It then counts as live
// until it is removed.
class ToolSessionTable {
 public:
  enum class Processes : std::uint8_t { one, several };
  ToolSessionTable(const Clock& clock, std::chrono::milliseconds idle, Processes processes = Processes::one)
      : clock_(clock), idle_(idle), processes_(processes) {}

  // Returns the principal of a token, and counts that as use of its session. Returns null if no session has the token,
  // or if the session has been idle for too long.
  std::shared_ptr<const Principal> find(const json::Digest& token);
  // Returns the session with this id, even if it has been idle for too long; empty if there is none.
  ToolSessionEntry find(const ToolSessionId& id) const;
  // Returns the session that has this token; null if there is none, or if it has been idle for too long.
  std::shared_ptr<ToolSession> holder(const json::Digest& token) const;
  // Returns whether the session has been unused for the idle timeout plus `longer`.
  bool is_idle(const ToolSession& session, std::chrono::milliseconds longer = {}) const {
    return clock_.now() - session.last_used() >= idle_ + longer;
  }

  // Returns whether the session has ended, although it has not been removed yet.
  bool has_ended(const ToolSession& session) const { return processes_ == Processes::one && is_idle(session); }

  // Adds a session, or gives an existing one a new binding. Lookups find the session throughout, and its former token
  // is unknown afterwards. Another session with the same id must have been removed before.
  void put(const ToolSessionEntry& entry, std::shared_ptr<const SessionBinding> binding);
  // Does nothing if another session has the id now.
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
    // Each key is a view of the session's own id.
    std::unordered_map<std::string_view, ToolSessionEntry> entries;
  };
  TokenShard& shard(const json::Digest& token) { return by_token_[token[31] % kShards]; }
  const TokenShard& shard(const json::Digest& token) const { return by_token_[token[31] % kShards]; }
  IdShard& shard(const ToolSessionId& id) { return by_id_[std::hash<ToolSessionId>{}(id) % kShards]; }
  const IdShard& shard(const ToolSessionId& id) const { return by_id_[std::hash<ToolSessionId>{}(id) % kShards]; }
  void forget_token(const json::Digest& token, const ToolSession& of);

  const Clock& clock_;
  const std::chrono::milliseconds idle_;
  const Processes processes_;
  std::atomic<std::size_t> count_ = 0;
  std::array<TokenShard, kShards> by_token_;
  std::array<IdShard, kShards> by_id_;
};

}  // namespace proteus::gateway
