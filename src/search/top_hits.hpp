#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "search/rank.hpp"

namespace proteus::search {

// Whether one hit comes before another: by score; of the same score by where they stand.
inline bool comes_before(const Hit& a, const Hit& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.part != b.part ? a.part < b.part : a.position < b.position;
}

// The best of many hits.
class TopHits {
 public:
  explicit TopHits(std::size_t limit) : limit_(limit) { hits_.reserve(std::min<std::size_t>(limit, 1024)); }

  bool full() const { return hits_.size() == limit_; }
  std::size_t size() const { return hits_.size(); }
  bool takes(const Hit& hit) const { return !full() || (limit_ > 0 && comes_before(hit, hits_.front())); }

  // Of those that are there, of which there is one at least.
  const Hit& last() const { return hits_.front(); }

  // Gives back the one that has no place, if any.
  std::optional<Hit> add(const Hit& hit) {
    if (!takes(hit)) return hit;
    std::optional<Hit> displaced;
    if (full()) {
      std::ranges::pop_heap(hits_, comes_before);  // the last in order is in front of the heap
      displaced = hits_.back();
      hits_.pop_back();
    }
    hits_.push_back(hit);
    std::ranges::push_heap(hits_, comes_before);
    return displaced;
  }

  // In order; none are left here.
  std::vector<Hit> take() {
    std::ranges::sort(hits_, comes_before);
    return std::exchange(hits_, {});
  }
  const std::vector<Hit>& hits() const { return hits_; }
  void clear() { hits_.clear(); }

 private:
  std::size_t limit_;
  std::vector<Hit> hits_;
};

}  // namespace proteus::search
