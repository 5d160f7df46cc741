#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/secrets/process_key.hpp"
#include "base/secrets/sealing.hpp"
#include "mcp/version.hpp"
#include "server/core/caller.hpp"

namespace proteus::server {

// What the id of a session contains in a cluster (ADR 38).
struct SessionFacts {
  ProcessKey maker;
  mcp::Version version = mcp::kNewestLegacy;
  std::string client_capabilities = {};  // JSON object; only the known ones if all together are too long
};

// Mints and opens session ids. Nothing in an id is used, or even parsed, before it is certain that a process with our
// key made the id for this caller. Immutable.
class SessionIds {
 public:
  // `self` is this process.
  SessionIds(SealingKey key, ProcessKey self) : key_(key), self_(std::move(self)) {}

  const ProcessKey& self() const { return self_; }

  std::string mint(const Caller& caller, mcp::Version version, std::string_view client_capabilities) const;
  // Returns nothing if the id is not one of ours or belongs to another caller, without distinguishing the two.
  std::optional<SessionFacts> open(std::string_view id, const Caller& caller) const;

 private:
  const SealingKey key_;
  const ProcessKey self_;
};

// A cache of recently opened ids, so that not every request has to open the id of its session. Thread-safe.
class OpenedIds {
 public:
  // `ids` must outlive the cache.
  explicit OpenedIds(const SessionIds& ids) : ids_(ids) {}

  // Like `SessionIds::open`.
  std::optional<SessionFacts> open(std::string_view id, const Caller& caller);

 private:
  struct Slot {
    std::mutex mutex;
    std::string id;
    std::string principal;
    std::string context;
    SessionFacts facts;
  };

  const SessionIds& ids_;
  std::array<Slot, 1024> slots_;
};

}  // namespace proteus::server
