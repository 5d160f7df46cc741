#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/process_key.hpp"
#include "base/sealing.hpp"
#include "mcp/version.hpp"
#include "server/core/caller.hpp"

namespace proteus::server {

// What the id of a session says where several processes serve as one (ADR 38).
struct SessionFacts {
  ProcessKey maker;
  mcp::Version version = mcp::kNewestLegacy;
  std::string client_capabilities = {};  // a JSON object: those that are known, where all of them are too long
};

// Mints and opens such ids. Nothing of one is believed, or even read, before it is known that a process with our key
// made it for this caller. Immutable.
class SessionIds {
 public:
  // `self` is this process.
  SessionIds(SealingKey key, ProcessKey self) : key_(key), self_(std::move(self)) {}

  const ProcessKey& self() const { return self_; }

  std::string mint(const Caller& caller, mcp::Version version, std::string_view client_capabilities) const;
  // Nothing where it is no id of ours, or another caller's: the two look the same.
  std::optional<SessionFacts> open(std::string_view id, const Caller& caller) const;

 private:
  const SealingKey key_;
  const ProcessKey self_;
};

// Who made the sessions whose ids were opened lately, so that each request of one need not open it. Thread-safe.
class SessionMakers {
 public:
  // The ids outlive it.
  explicit SessionMakers(const SessionIds& ids) : ids_(ids) {}

  // As SessionIds::open; empty where it is no id of ours, or another caller's.
  ProcessKey find(std::string_view id, const Caller& caller);

 private:
  struct Slot {
    std::mutex mutex;
    std::string id;
    std::string principal;
    std::string context;
    ProcessKey maker;
  };

  const SessionIds& ids_;
  std::array<Slot, 1024> slots_;
};

}  // namespace proteus::server
