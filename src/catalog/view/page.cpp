#include <algorithm>

#include "catalog/view/view.hpp"

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
  // Returns the next run, of at most `most` definitions.
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

namespace {

// Compares two texts that are cut into pieces at different places.
bool same_text(std::span<const std::string_view> a, std::span<const std::string_view> b) {
  std::string_view x;
  std::string_view y;
  while (true) {
    for (; x.empty() && !a.empty(); a = a.subspan(1))
      x = a.front();
    for (; y.empty() && !b.empty(); b = b.subspan(1))
      y = b.front();
    if (x.empty() || y.empty()) return x.empty() && y.empty();
    const std::size_t common = std::min(x.size(), y.size());
    if (x.substr(0, common) != y.substr(0, common)) return false;
    x.remove_prefix(common);
    y.remove_prefix(common);
  }
}

}  // namespace

KindSet differing(const View& before, const View& after) {
  KindSet set;
  for (const Kind kind : kKinds) {
    const Page was = before.page(kind, {}, SIZE_MAX);
    const Page is = after.page(kind, {}, SIZE_MAX);
    if (!same_text(was.pieces, is.pieces)) set.add(kind);
  }
  return set;
}

}  // namespace proteus::catalog
