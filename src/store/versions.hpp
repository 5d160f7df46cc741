#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// How several processes that share a store change records without overwriting each other, and learn of each other's
// changes.
namespace proteus::store {

enum class RecordKind : std::uint8_t {
  upstream,
  snapshot,  // of an upstream; the part is the kind of definitions
  setting,
  pins,  // all of an upstream together
  tool_session,
  session_tool,  // of a session; the part is the name of the tool
  token,
  sealed,  // of a kind; the part is the id
  change,  // an entry of the change log, named by its upstream
};

std::string_view to_string(RecordKind kind);
std::optional<RecordKind> parse_record_kind(std::string_view text);

// What identifies a record.
struct RecordKey {
  RecordKind kind = RecordKind::upstream;
  std::string name;
  std::string part;  // empty where the name is enough

  friend bool operator==(const RecordKey&, const RecordKey&) = default;
};

// What the store adds to a record when it is read. It is no part of the content, so that records are compared without.
struct Stored {
  // The number in the feed of the write that put the record: above those of all earlier writes, and never used again.
  std::uint64_t version = 0;

  friend bool operator==(const Stored&, const Stored&) { return true; }
};

// A condition for the unit it is in: that the record has this version; 0 where there must be none. All conditions are
// checked before anything of the unit is written. Where one does not hold, the unit fails with a conflict.
struct Expect {
  RecordKey key;
  std::uint64_t version = 0;
};

// One write of a record, or its removal. It says which record, not what is in it: whoever follows reads that.
struct FeedEntry {
  std::uint64_t number = 0;
  RecordKey key;

  friend bool operator==(const FeedEntry&, const FeedEntry&) = default;
};

// In the order of the commits: when an entry can be read, so can all with a smaller number. Numbers have no gaps, and
// where `oldest` is above the number asked for plus one, entries between were dropped.
struct FeedPage {
  std::vector<FeedEntry> entries;
  std::uint64_t oldest = 0;  // the oldest number that is kept; 0 where nothing is
  std::uint64_t newest = 0;  // the newest number that was given
};

}  // namespace proteus::store
