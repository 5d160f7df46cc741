#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>

#include "json/message.hpp"

namespace proteus::json {

// Changes a JSON text by replacing pieces of it, and keeps every other byte: unknown fields, number formats, the order
// of keys. The result is a list of pieces for one gathered write; nothing is copied. Pieces must be views into the
// original text and must not overlap. They may be replaced in any order, because the sender chooses the order of keys.
// The text and all replacements must outlive the use of `pieces`. Throws std::logic_error if a piece is not part of the
// text or overlaps another one.
class Splice {
 public:
  using Pieces = boost::container::small_vector<std::string_view, 16>;

  explicit Splice(std::string_view text) : text_(text) {}

  void replace(std::string_view piece, std::string_view with);
  void insert_before(std::string_view piece, std::string_view what) { replace(piece.substr(0, 0), what); }
  void insert_after(std::string_view piece, std::string_view what) { replace(piece.substr(piece.size()), what); }
  void remove(std::string_view piece) { replace(piece, {}); }

  // The changed text. After the first call of any of these, `replace` throws.
  const Pieces& pieces();
  std::size_t size();
  std::string str();

 private:
  struct Edit {
    std::size_t begin;
    std::size_t end;
    std::string_view with;
  };

  std::string_view text_;
  bool finished_ = false;
  boost::container::small_vector<Edit, 8> edits_;  // in the order of the text
  Pieces pieces_;
};

// Removes the members for which `drop(member)` is true from an object, and appends `added`, which is text such as
// `"a":1,"b":2` and may be empty. Keeps the commas correct. `object` must be a view into the text of the splice, and
// `members` must be all its members.
template <class Drop>
void edit_members(Splice& splice, std::string_view object, const Members& members, Drop&& drop,
                  std::string_view added = {}) {
  const auto upto = [&](const char* begin, const char* end) {
    return std::string_view(begin, static_cast<std::size_t>(end - begin));
  };
  const char* kept_end = nullptr;      // end of the last kept member
  const char* dropped_from = nullptr;  // start of the run of dropped members before this one
  const char* last_end = object.data() + 1;
  for (const Member& member : members) {
    const char* const end = member.value.data() + member.value.size();
    if (drop(member)) {
      if (dropped_from == nullptr) dropped_from = last_end;
    } else {
      if (dropped_from != nullptr) {
        // A dropped run at the front of the object includes the comma after it, a later run the comma before it.
        const char* const run_end = kept_end == nullptr ? upto(last_end, end).find(',') + last_end + 1 : last_end;
        splice.remove(upto(dropped_from, run_end));
        dropped_from = nullptr;
      }
      kept_end = end;
    }
    last_end = end;
  }
  if (dropped_from != nullptr) splice.remove(upto(dropped_from, last_end));
  if (added.empty()) return;
  const std::string_view end = object.substr(object.size() - 1);
  if (kept_end != nullptr) splice.insert_before(end, ",");
  splice.insert_before(end, added);
}

// Returns the text of the member at `index` with one adjacent comma, so that cutting it out leaves a valid object.
// `members` must be all members of `object`, in order. The pieces of two members may overlap: to cut several, use
// `edit_members`.
std::string_view member_with_comma(std::string_view object, const Members& members, std::size_t index);

}  // namespace proteus::json
