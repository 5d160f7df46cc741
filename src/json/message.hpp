#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <proteus/error.hpp>

namespace proteus::json {

// One member of an object: its decoded key, and its value as raw text.
struct Member {
  std::string_view key;
  std::string_view value;
};

// The members of one object in the order of the text. Keys are unique: the scan rejects duplicates, because an attacker
// could exploit two readers that resolve them differently.
class Members {
 public:
  const Member* find(std::string_view key) const {
    for (const Member& member : members_) {
      if (member.key == key) return &member;
    }
    return nullptr;
  }
  // Returns the raw value; empty if there is no such member (no JSON value has an empty text).
  std::string_view value(std::string_view key) const {
    const Member* const member = find(key);
    return member == nullptr ? std::string_view{} : member->value;
  }
  bool has(std::string_view key) const { return find(key) != nullptr; }

  void add(Member member) { members_.push_back(member); }
  void clear() { members_.clear(); }
  auto begin() const { return members_.begin(); }
  auto end() const { return members_.end(); }
  std::size_t size() const { return members_.size(); }
  bool empty() const { return members_.empty(); }

 private:
  boost::container::small_vector<Member, 8> members_;
};

enum class MessageKind : std::uint8_t { request, notification, result, error, invalid };

// A scanned JSON-RPC message: its kind, and views of its parts. The whole text is valid JSON; only keys and methods
// that were written with escapes are copied. All views point into the scanned text, which must outlive the message, or
// into `decoded`. So messages can be moved, but not copied.
struct Message {
  std::string_view text;
  MessageKind kind = MessageKind::invalid;
  std::string fault;  // the broken rule of JSON-RPC if `kind` is invalid

  std::string_view id;      // raw, with quotes; empty if absent or not a valid id
  std::string_view method;  // decoded
  std::string_view params;  // raw; empty if absent
  std::string_view result;
  std::string_view error;

  Members body;  // members of `params` or `result` if it is an object
  Members meta;  // members of its `_meta` if it is an object

  std::vector<std::unique_ptr<std::string>> decoded;  // owns the strings that were decoded from escapes
};

struct ScanLimits {
  std::size_t bytes = std::size_t{64} * 1024 * 1024;
  // Deeper than any schema seen in practice, and shallow enough for recursive readers. Counts the objects and arrays
  // that are open at once, including the message itself, as `parse` does. Values above 1024 count as 1024.
  std::size_t depth = 128;
  // Applies to the message, to `params` or `result`, and to `_meta`. Keeps the search for duplicates cheap.
  std::size_t members = 256;
};

// Scans a message. Fails if the text is not JSON (-32700), exceeds a limit (-32600), or has a duplicate key in an
// object that is read (-32600). If the text is JSON but not a JSON-RPC message, returns a message of kind `invalid`, so
// that the answer can still carry the id.
Result<Message> scan(std::string_view text, const ScanLimits& limits = {});
// Scans into a new message in place, which saves moving it: messages are large.
Result<void> scan_into(Message& message, std::string_view text, const ScanLimits& limits = {});

// Returns the decoded content of a raw string: a view into `raw`, or into `storage` if the string has escapes. The
// string must be valid.
std::string_view decoded(std::string_view raw, std::vector<std::unique_ptr<std::string>>& storage);

// Reads the members of an object. Fails if the text is not a JSON object, has a duplicate key, or exceeds the limits of
// depth and members; `limits.bytes` is not checked. Keys with escapes are decoded into `storage`.
Result<Members> members_of(std::string_view object, std::vector<std::unique_ptr<std::string>>& storage,
                           const ScanLimits& limits = {});

// Returns the raw elements of an array. Fails if the text is not a JSON array, has more than `max_elements` elements,
// or exceeds a limit.
Result<std::vector<std::string_view>> elements_of(std::string_view array, std::size_t max_elements,
                                                  const ScanLimits& limits = {});

}  // namespace proteus::json
