#include "json/splice.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace proteus::json {

void Splice::replace(std::string_view piece, std::string_view with) {
  const std::less_equal<const char*> not_after;
  if (finished_ || piece.data() == nullptr || !not_after(text_.data(), piece.data()) ||
      !not_after(piece.data() + piece.size(), text_.data() + text_.size())) {
    throw std::logic_error("a splice was given a piece that is not of its text, or after it was used");
  }
  const auto begin = static_cast<std::size_t>(piece.data() - text_.data());
  const Edit edit{begin, begin + piece.size(), with};
  // Text inserted before a piece precedes the piece's replacement. Several insertions at one place keep their order.
  const auto earlier = [](const Edit& a, const Edit& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  };
  edits_.insert(std::ranges::upper_bound(edits_, edit, earlier), edit);
}

const Splice::Pieces& Splice::pieces() {
  if (finished_) return pieces_;
  finished_ = true;
  std::size_t done = 0;
  for (const Edit& edit : edits_) {
    if (edit.begin < done) throw std::logic_error("two pieces of a splice overlap");
    if (edit.begin > done) pieces_.push_back(text_.substr(done, edit.begin - done));
    if (!edit.with.empty()) pieces_.push_back(edit.with);
    done = edit.end;
  }
  if (done < text_.size()) pieces_.push_back(text_.substr(done));
  return pieces_;
}

std::size_t Splice::size() {
  std::size_t total = 0;
  for (const auto piece : pieces())
    total += piece.size();
  return total;
}

std::string Splice::str() {
  std::string out;
  out.reserve(size());
  for (const auto piece : pieces())
    out += piece;
  return out;
}

std::string_view member_with_comma(std::string_view object, const Members& members, std::size_t index) {
  const auto offset = [&](std::string_view piece) { return static_cast<std::size_t>(piece.data() - object.data()); };
  const auto end_of = [&](std::size_t at) {
    const std::string_view value = (members.begin() + static_cast<std::ptrdiff_t>(at))->value;
    return offset(value) + value.size();
  };
  // The first member takes the comma after it, if any; each later member takes the comma before it.
  std::size_t begin = index == 0 ? 1 : end_of(index - 1);
  std::size_t end = end_of(index);
  if (index == 0 && members.size() > 1) {
    end = object.find(',', end) + 1;
  }
  return object.substr(begin, end - begin);
}

}  // namespace proteus::json
