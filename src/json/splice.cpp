#include "json/splice.hpp"

#include <cassert>

namespace proteus::json {

void Splice::replace(std::string_view piece, std::string_view with) {
  const auto begin = static_cast<std::size_t>(piece.data() - text_.data());
  assert(begin >= done_ && begin + piece.size() <= text_.size());
  if (begin > done_) pieces_.push_back(text_.substr(done_, begin - done_));
  if (!with.empty()) pieces_.push_back(with);
  done_ = begin + piece.size();
}

const Splice::Pieces& Splice::pieces() {
  if (!finished_) {
    if (done_ < text_.size()) pieces_.push_back(text_.substr(done_));
    finished_ = true;
  }
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
  const auto offset = [&](std::string_view piece) {
    return static_cast<std::size_t>(piece.data() - object.data());
  };
  const auto end_of = [&](std::size_t at) {
    const std::string_view value = (members.begin() + static_cast<std::ptrdiff_t>(at))->value;
    return offset(value) + value.size();
  };
  // Up to and with the comma behind it; the last member takes the one in front of it instead.
  std::size_t begin = index == 0 ? 1 : end_of(index - 1);
  std::size_t end = end_of(index);
  if (index == 0 && members.size() > 1) {
    end = object.find(',', end) + 1;
  }
  return object.substr(begin, end - begin);
}

}  // namespace proteus::json
