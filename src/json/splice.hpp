#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>

#include "json/message.hpp"

namespace proteus::json {

// Changes a JSON text by replacing pieces of it, and keeps every other byte: unknown fields, number formats,
// the order of keys. The result is a list of pieces for one gathered write; nothing is copied. The pieces
// given must be views into the original text, must not overlap, and come in ascending order; replacements
// must outlive the use of `pieces`.
class Splice {
 public:
  using Pieces = boost::container::small_vector<std::string_view, 16>;

  explicit Splice(std::string_view text) : text_(text) {}

  void replace(std::string_view piece, std::string_view with);
  // Puts something in front of a piece, or behind it.
  void insert_before(std::string_view piece, std::string_view what) { replace(piece.substr(0, 0), what); }
  void insert_after(std::string_view piece, std::string_view what) {
    replace(piece.substr(piece.size()), what);
  }

  const Pieces& pieces();
  std::size_t size();
  std::string str();

 private:
  std::string_view text_;
  std::size_t done_ = 0;  // bytes of the text that are in `pieces_` or replaced
  bool finished_ = false;
  Pieces pieces_;
};

// A member with the comma that belongs to it, so that cutting the piece out leaves an object; `members` are
// all of the object `object`, in order, and `index` says which of them.
std::string_view member_with_comma(std::string_view object, const Members& members, std::size_t index);

}  // namespace proteus::json
