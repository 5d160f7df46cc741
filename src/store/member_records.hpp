#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// The processes that share a store, and the leases for work that only one of them may do at a time.
namespace proteus::store {

// A process. The name is new at each start, so that a restarted process is not taken for its predecessor.
struct MemberRecord {
  std::string name;
  std::string facts;                   // JSON, for people: version, start time, …
  std::uint64_t applied = 0;           // number of the last feed entry that the process has applied
  std::chrono::microseconds unseen{};  // time since the last `Attend`, by the clock of the store; not stored
};

// Permission to do something exclusively. `token` grows whenever the lease gets a new owner.
struct LeaseRecord {
  std::string name;
  std::string owner;
  std::uint64_t token = 0;

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// A condition of a single write: the lease still has this token. The statement that writes checks it.
struct Fence {
  std::string lease;
  std::uint64_t token = 0;
  friend bool operator==(const Fence&, const Fence&) = default;
};

// Records that the process is alive.
struct Attend {
  MemberRecord record;
};
// Removes the process and releases its leases.
struct Leave {
  std::string member;
};
// Takes the named leases that are free, or whose owner has not attended for at least `patience`. `Written::leases` then
// has all named leases that `owner` holds, including those that it held before.
struct TakeLeases {
  std::string owner;
  std::vector<std::string> names;
  std::chrono::microseconds patience{};
};
// Releases the named leases that `owner` holds.
struct ReleaseLeases {
  std::string owner;
  std::vector<std::string> names;
};

}  // namespace proteus::store
