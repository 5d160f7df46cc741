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

// What the store keeps, as plain values. Texts called JSON are opaque here: they come back as they were put.
namespace proteus::store {

enum class Origin : std::uint8_t {
  runtime,        // registered over the admin API
  file_override,  // changes an upstream of the configuration file, for as long as the file's entry is the same
};

// An upstream, or an override of one. The name identifies it.
struct UpstreamRecord {
  std::string name;
  std::string id;
  Time created_at{};
  Time updated_at{};
  std::string settings;  // JSON, without secrets
  std::string secrets;   // JSON, sealed wherever it is at rest; empty for none
  Origin origin = Origin::runtime;
  std::string file_hash;      // of the file's entry that an override belongs to
  std::string secrets_fault;  // why a read could not open the secrets, which are empty then; not kept
  Stored stored{};

  friend bool operator==(const UpstreamRecord&, const UpstreamRecord&) = default;
};

// What an upstream listed when it was last asked with success. Upstream and kind identify it.
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
  std::uint64_t number = 0;  // given by the store: 1, 2, 3, …, never the same twice
  Time at{};
  std::string upstream;
  std::string kind;
  std::string change;  // JSON

  friend bool operator==(const ChangeRecord&, const ChangeRecord&) = default;
};

// Where `oldest` is above the number asked for plus one, changes between were dropped.
struct ChangePage {
  std::vector<ChangeRecord> changes;  // in ascending order
  std::uint64_t oldest = 0;           // the oldest number that is kept; 0 where nothing is
  std::uint64_t newest = 0;           // the newest number ever given; 0 where none was
};

struct AuditRecord {
  std::uint64_t number = 0;  // given by the store, as that of a change
  Time at{};
  std::string who;
  std::string what;
  std::string detail;  // JSON

  friend bool operator==(const AuditRecord&, const AuditRecord&) = default;
};

enum class Verdict : std::uint8_t { ratified, rejected };

// A person's decision about one definition of an upstream. Upstream, kind, name and hash identify it; of a kind and
// name at most one is ratified.
struct PinRecord {
  std::string upstream;
  std::string kind;  // "tools", "prompts", …
  std::string name;  // the upstream's own; may be empty
  std::string hash;  // of the exact content that was decided about
  Verdict verdict = Verdict::ratified;
  std::string definition;  // as the upstream wrote it; empty where it was rejected
  std::string by;
  Time at{};
  Stored stored{};

  friend bool operator==(const PinRecord&, const PinRecord&) = default;
};

// Something the gateway remembers. A set of small things is one setting each, with a common beginning of the key.
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
// All kinds of one upstream.
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

// One that is ratified takes the place of the one of that name before.
struct PutPin {
  PinRecord record;
};

// Putting replaces; removing what is not there does nothing.
using Write = std::variant<PutUpstream, RemoveUpstream, PutSnapshot, RemoveSnapshots, AppendChange, AppendAudit,
                           PutSetting, RemoveSetting, PutToolSession, RemoveToolSession, TouchToolSession,
                           PutSessionTool, RemoveSessionTool, PutPin, PutToken, RemoveToken, TouchToken, PutSealed,
                           RemoveSealed, Expect, Attend, Leave, TakeLeases, ReleaseLeases>;
using Writes = std::vector<Write>;

struct Written {
  std::vector<std::uint64_t> changes{};   // the numbers of the appended changes, in their order
  std::vector<std::uint64_t> versions{};  // in the feed, of all writes that it has, in their order
  std::vector<LeaseRecord> leases{};      // that were taken, or kept
};

// How much of what grows with time is kept: the newest. At least one of each.
struct Retention {
  std::size_t changes = 10'000;
  std::size_t audits = 100'000;
  std::size_t feed = 0;  // at least so many; none where this is 0, for a process that shares its store with nobody
};

// The sizes of what may be put, in bytes. A snapshot has room for 100,000 definitions of 2.5 KB.
namespace limits {
inline constexpr std::size_t kName = 1024;
inline constexpr std::size_t kText = std::size_t{1} << 20;
inline constexpr std::size_t kChange = std::size_t{16} << 20;
inline constexpr std::size_t kEntries = std::size_t{256} << 20;
inline constexpr std::size_t kWrites = 1000;                 // in one unit
inline constexpr std::size_t kLeases = 1000;                 // that are taken at once
inline constexpr std::size_t kRows = 10'000;                 // of the change log, the audit or the feed, in one read
inline constexpr std::size_t kPage = std::size_t{16} << 20;  // the texts of one such read, unless one alone is larger
}  // namespace limits

// Whether every part has a name where it needs one, and is within the limits.
Result<> check(const Writes& writes);

// What a write changes for all who share the store; nothing for what no other process applies.
std::optional<RecordKey> key_of(const Write& write);
// How many writes have one.
std::size_t count_in_feed(const Writes& writes);

// About how much memory they hold.
std::size_t bytes_of(const Writes& writes);

}  // namespace proteus::store
