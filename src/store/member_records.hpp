#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// The processes that share a store, and which of them does what only one may do at a time.
namespace proteus::store {

// A process. Its name is new at each start, so that one that was started again is not taken for the one before.
struct MemberRecord {
  std::string name;
  std::string facts;                   // JSON, for people: version, since when, …
  std::uint64_t applied = 0;           // how far it has followed the feed
  std::chrono::microseconds unseen{};  // since it last attended, by the clock of the store; not kept
};

// Permission to do something alone. `token` grows each time the owner changes.
struct LeaseRecord {
  std::string name;
  std::string owner;
  std::uint64_t token = 0;

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// A condition of a single write: that the lease still has this token. It is checked by the statement that writes.
struct Fence {
  std::string lease;
  std::uint64_t token = 0;
  friend bool operator==(const Fence&, const Fence&) = default;
};

// Says that the process lives.
struct Attend {
  MemberRecord record;
};
// Ends its leases as well.
struct Leave {
  std::string member;
};
// Takes those that nobody has, or whose owner has not attended for as long as `patience`. The outcome has all of them
// that the owner has then, those included that it had before.
struct TakeLeases {
  std::string owner;
  std::vector<std::string> names;
  std::chrono::microseconds patience{};
};
// Those of the owner's alone.
struct ReleaseLeases {
  std::string owner;
  std::vector<std::string> names;
};

}  // namespace proteus::store
