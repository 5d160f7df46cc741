#include <algorithm>

#include "catalog/view.hpp"

namespace proteus::catalog {
namespace {

// The definitions of one list that are not among `lost`, as runs of neighbours.
class Runs {
 public:
  Runs(std::size_t begin, std::size_t end, std::span<const std::uint32_t> lost)
      : begin_(begin), end_(end), lost_(lost) {
    const auto first = std::ranges::lower_bound(lost_, begin_);
    lost_ = lost_.subspan(static_cast<std::size_t>(first - lost_.begin()));
    skip();
  }

  bool done() const { return begin_ == end_; }
  // The next run, cut to so many.
  std::pair<std::size_t, std::size_t> take(std::size_t most) {
    const std::size_t stop = lost_.empty() ? end_ : std::min<std::size_t>(end_, lost_.front());
    const std::pair run(begin_, std::min(stop, begin_ + most));
    begin_ = run.second;
    skip();
    return run;
  }

 private:
  void skip() {
    while (begin_ < end_ && !lost_.empty() && lost_.front() == begin_) {
      ++begin_;
      lost_ = lost_.subspan(1);
    }
  }

  std::size_t begin_;
  std::size_t end_;
  std::span<const std::uint32_t> lost_;
};

}  // namespace

void Page::append_to(mcp::Payload& payload, const std::shared_ptr<const void>& view) const {
  for (const std::string_view piece : pieces)
    payload.add(piece, view);
}

std::string Page::str() const {
  std::string out;
  for (const std::string_view piece : pieces)
    out += piece;
  return out;
}

Page View::page(Kind kind, const Position& from, std::size_t size, std::uint32_t until) const {
  Page page;
  std::size_t left = std::max<std::size_t>(size, 1);
  Position last;
  for (std::uint32_t place = from.place; place < std::min(places(), until); ++place) {
    const Snapshot* const snapshot = at(place);
    if (snapshot == nullptr) continue;
    const DefinitionList& list = snapshot->list(kind);
    const std::size_t begin = place == from.place && !from.name.empty() ? list.above(from.name) : 0;
    for (Runs runs(begin, list.size(), losers(place, kind)); !runs.done();) {
      if (left == 0) {
        page.next = std::move(last);
        return page;
      }
      const auto [first, behind] = runs.take(left);
      if (!page.pieces.empty()) page.pieces.emplace_back(",");
      page.pieces.push_back(list.joined(first, behind));
      page.definitions += behind - first;
      left -= behind - first;
      if (left == 0) last = {place, std::string(list[behind - 1].shown)};
    }
  }
  return page;
}

}  // namespace proteus::catalog
