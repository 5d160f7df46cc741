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

// One member of an object: its key, decoded, and its value as the text it was written in.
struct Member {
  std::string_view key;
  std::string_view value;
};

// The members of one object in the order they were written. Keys are unique: a duplicate is refused by the
// scan, because two readers that resolve it differently can be played off against each other.
class Members {
 public:
  const Member* find(std::string_view key) const {
    for (const Member& member : members_) {
      if (member.key == key) return &member;
    }
    return nullptr;
  }
  // The value's text; empty where there is no such member (no JSON value has an empty text).
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

// A JSON-RPC message as scanned: what it is, and where its parts stand in the text. The whole text was
// checked to be JSON; nothing was copied out of it, except keys and methods that were written with escapes.
// All views point into the scanned text, which must outlive the message, or into the message itself: it
// moves, but does not copy.
struct Message {
  std::string_view text;
  MessageKind kind = MessageKind::invalid;
  std::string fault;  // where `kind` is invalid: which rule of JSON-RPC it breaks

  std::string_view id;      // as written, quotes included; empty for none or a forbidden one
  std::string_view method;  // decoded
  std::string_view params;  // as written; empty for none
  std::string_view result;
  std::string_view error;

  Members body;  // of `params` or `result`, where that is an object
  Members meta;  // of `_meta` in there, where that is an object

  std::vector<std::unique_ptr<std::string>> decoded;  // owns what escapes were decoded to
};

struct ScanLimits {
  std::size_t bytes = std::size_t{64} * 1024 * 1024;
  // Deeper than any schema seen in the wild, and shallow enough for recursive readers further on. Counts
  // every object and array that is open at once, the message itself too, as `parse` does; 1024 is the most
  // there is.
  std::size_t depth = 128;
  // Of the message, `params` or `result`, and `_meta` each. Comparing all for duplicates stays cheap.
  std::size_t members = 256;
};

// Fails where the text is not JSON (-32700), or exceeds a limit (-32600). A text that is JSON but no JSON-RPC
// message gives a message of kind `invalid`, so that the answer can still carry its id.
Result<Message> scan(std::string_view text, const ScanLimits& limits = {});
// The same into a new message that stays where it is: a message is large, and moving it is not free.
Result<void> scan_into(Message& message, std::string_view text, const ScanLimits& limits = {});

// A raw string's inside, decoded: a view into it, or into `storage` where it has escapes. The string must be
// valid.
std::string_view decoded(std::string_view raw, std::vector<std::unique_ptr<std::string>>& storage);

// The members of an object given as text; the text must be JSON already, such as a part of a scanned message.
// Keys with escapes are decoded into `storage`.
Result<Members> members_of(std::string_view object, std::vector<std::unique_ptr<std::string>>& storage,
                           const ScanLimits& limits = {});

// The elements of an array given as text, as they are written; at most so many of them. The text is checked to be
// JSON.
Result<std::vector<std::string_view>> elements_of(std::string_view array, std::size_t max_elements,
                                                  const ScanLimits& limits = {});

}  // namespace proteus::json
