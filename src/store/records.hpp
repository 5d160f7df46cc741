#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <proteus/error.hpp>

#include "store/member_records.hpp"
#include "store/sealed_records.hpp"
#include "store/session_records.hpp"
#include "store/time.hpp"
#include "store/token_records.hpp"
#include "store/versions.hpp"

// The records of the store, as plain values. Texts that are called JSON are opaque to the store: it returns them
// unchanged.
namespace proteus::store {

enum class Origin : std::uint8_t {
  runtime,        // registered over the admin API
  file_override,  // changes an upstream of the configuration file, as long as the file's entry stays the same
};

// An upstream, or an override of one. Identified by its name.
struct UpstreamRecord {
  std::string name;
  std::string id;
  Time created_at{};
  Time updated_at{};
  std::string settings;  // JSON, without secrets
  std::string secrets;   // JSON, sealed at rest; may be empty
  Origin origin = Origin::runtime;
  std::string file_hash;      // of the file's entry that an override belongs to
  std::string secrets_fault;  // why a read could not open the secrets, which are then empty; not stored
  Stored stored{};

  friend bool operator==(const UpstreamRecord&, const UpstreamRecord&) = default;
};

// The definitions that an upstream listed at the last successful request. Identified by upstream and kind.
struct SnapshotRecord {
  std::string upstream;
  std::string kind;     // "tools", "prompts", …
  std::string entries;  // JSON array of definitions, as the upstream wrote them
  std::string era;
  std::string protocol_version;
  std::string server_facts;  // JSON
  Time taken_at{};
  Stored stored{};

  friend bool operator==(const SnapshotRecord&, const SnapshotRecord&) = default;
};

struct ChangeRecord {
  std::uint64_t number = 0;  // assigned by the store: 1, 2, 3, …, never reused
  Time at{};
  std::string upstream;
  std::string kind;
  std::string change;  // JSON

  friend bool operator==(const ChangeRecord&, const ChangeRecord&) = default;
};

// If `oldest` is greater than the requested number plus one, the changes in between were dropped.
struct ChangePage {
  std::vector<ChangeRecord> changes;  // in ascending order
  std::uint64_t oldest = 0;           // the oldest number that is kept; 0 if no change is kept
  std::uint64_t newest = 0;           // the newest number ever assigned; 0 if none was
};

struct AuditRecord {
  std::uint64_t number = 0;  // assigned by the store like that of a change
  Time at{};
  std::string who;
  std::string what;
  std::string detail;  // JSON

  friend bool operator==(const AuditRecord&, const AuditRecord&) = default;
};

enum class Verdict : std::uint8_t { ratified, rejected };

// A person's decision about one definition of an upstream. Identified by upstream, kind, name and hash. At most one
// definition of each upstream, kind and name is ratified.
struct PinRecord {
  std::string upstream;
  std::string kind;  // "tools", "prompts", …
  std::string name;  // the upstream's own name; may be empty
  std::string hash;  // of the exact content that was decided about
  Verdict verdict = Verdict::ratified;
  std::string definition;  // as the upstream wrote it; empty if it was rejected
  std::string by;
  Time at{};
  Stored stored{};

  friend bool operator==(const PinRecord&, const PinRecord&) = default;
};

// A value that the gateway remembers. A set of small values has one setting for each, and their keys share a prefix.
struct Setting {
  std::string key;
  std::string value;
  Stored stored{};

  friend bool operator==(const Setting&, const Setting&) = default;
};

struct PutUpstream {
  UpstreamRecord record;
};
struct RemoveUpstream {
  std::string name;
};
struct PutSnapshot {
  SnapshotRecord record;
  std::optional<Fence> fence{};
};
// Removes the snapshots of all kinds.
struct RemoveSnapshots {
  std::string upstream;
};
struct AppendChange {
  ChangeRecord record;
};
struct AppendAudit {
  AuditRecord record;
};
struct PutSetting {
  Setting setting;
};
struct RemoveSetting {
  std::string key;
};

// A ratified pin replaces the one that was ratified before for its upstream, kind and name.
struct PutPin {
  PinRecord record;
};

// A put replaces the existing record. Removing a missing record does nothing.
using Write = std::variant<PutUpstream, RemoveUpstream, PutSnapshot, RemoveSnapshots, AppendChange, AppendAudit,
                           PutSetting, RemoveSetting, PutToolSession, RemoveToolSession, TouchToolSession,
                           PutSessionTool, RemoveSessionTool, PutPin, PutToken, RemoveToken, TouchToken, PutSealed,
                           RemoveSealed, Expect, Attend, Leave, TakeLeases, ReleaseLeases>;
using Writes = std::vector<Write>;

struct Written {
  std::vector<std::uint64_t> changes{};   // numbers of the appended changes, in their order
  std::vector<std::uint64_t> versions{};  // numbers in the feed of all writes that have one, in their order
  std::vector<LeaseRecord> leases{};      // leases that `TakeLeases` took or kept
};

// How many of the newest records are kept of those that accumulate. At least one change and one audit record are kept.
struct Retention {
  std::size_t changes = 10'000;
  std::size_t audits = 100'000;
  std::size_t feed = 0;  // at least this many entries; 0 for none, if no other process shares the store
};

// Limits of what may be written and read, in bytes unless noted. A snapshot has room for 100,000 definitions of 2.5 KB.
namespace limits {
inline constexpr std::size_t kName = 1024;
inline constexpr std::size_t kText = std::size_t{1} << 20;
inline constexpr std::size_t kChange = std::size_t{16} << 20;
inline constexpr std::size_t kEntries = std::size_t{256} << 20;
inline constexpr std::size_t kWrites = 1000;  // writes in one unit
inline constexpr std::size_t kLeases = 1000;  // leases taken at once
inline constexpr std::size_t kRows = 10'000;  // rows of the change log, the audit or the feed in one read
// All texts of one read of the change log or the audit together, unless a single one is larger.
inline constexpr std::size_t kPage = std::size_t{16} << 20;
}  // namespace limits

// Checks that each part has a name if it needs one, and is within the limits.
Result<> check(const Writes& writes);

// Returns the key under which the feed lists a write; nothing for a write that other processes do not apply.
std::optional<RecordKey> key_of(const Write& write);
// Returns how many of the writes the feed lists.
std::size_t count_in_feed(const Writes& writes);

// Returns about how much memory the writes hold.
std::size_t bytes_of(const Writes& writes);

}  // namespace proteus::store
