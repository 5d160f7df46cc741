#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// How several processes that share a store change records without overwriting each other's changes, and learn of each
// other's changes.
namespace proteus::store {

enum class RecordKind : std::uint8_t {
  upstream,
  snapshot,  // of an upstream; `part` is the kind of its definitions
  setting,
  pins,  // all pins of an upstream together
  tool_session,
  session_tool,  // of a session; `part` is the name of the tool
  token,
  sealed,  // of a kind; `part` is the id
  change,  // an entry of the change log; `name` is its upstream
};

std::string_view to_string(RecordKind kind);
std::optional<RecordKind> parse_record_kind(std::string_view text);

// Identifies a record.
struct RecordKey {
  RecordKind kind = RecordKind::upstream;
  std::string name;
  std::string part;  // empty if the name is enough

  friend bool operator==(const RecordKey&, const RecordKey&) = default;
};

// What the store adds to a record that is read. Not part of the content, so comparisons ignore it.
struct Stored {
  // The number in the feed of the write that put the record. Greater than those of all earlier writes, and never
  // reused.
  std::uint64_t version = 0;

  friend bool operator==(const Stored&, const Stored&) { return true; }
};

// A condition of its unit: the record has this version; 0 means that there is no record. All conditions of a unit are
// checked before anything is written. If one does not hold, the unit fails with a conflict.
struct Expect {
  RecordKey key;
  std::uint64_t version = 0;
};

// One write or removal of a record. It only names the record; a process that follows the feed reads the record itself.
struct FeedEntry {
  std::uint64_t number = 0;
  RecordKey key;

  friend bool operator==(const FeedEntry&, const FeedEntry&) = default;
};

// Entries in the order of their commits: once an entry can be read, so can all with smaller numbers. Numbers have no
// gaps. If `oldest` is greater than the requested number plus one, the entries in between were dropped.
struct FeedPage {
  std::vector<FeedEntry> entries;
  std::uint64_t oldest = 0;  // the oldest number that is kept; 0 if no entry is kept
  std::uint64_t newest = 0;  // the newest number ever assigned
};

}  // namespace proteus::store
