#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "search/rank.hpp"

namespace proteus::search {

// Returns whether one hit comes before another: by score, then by part and position.
inline bool comes_before(const Hit& a, const Hit& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.part != b.part ? a.part < b.part : a.position < b.position;
}

// Collects the best of many hits.
class TopHits {
 public:
  explicit TopHits(std::size_t limit) : limit_(limit) { hits_.reserve(std::min<std::size_t>(limit, 1024)); }

  bool full() const { return hits_.size() == limit_; }
  bool takes(const Hit& hit) const { return !full() || (limit_ > 0 && comes_before(hit, hits_.front())); }

  // Returns the worst of the collected hits. There must be at least one.
  const Hit& last() const { return hits_.front(); }

  // Returns the hit that has no place, if any: `hit` itself, or the one that `hit` displaced.
  std::optional<Hit> add(const Hit& hit) {
    if (!takes(hit)) return hit;
    std::optional<Hit> displaced;
    if (full()) {
      std::ranges::pop_heap(hits_, comes_before);  // the worst hit is at the front of the heap
      displaced = hits_.back();
      hits_.pop_back();
    }
    hits_.push_back(hit);
    std::ranges::push_heap(hits_, comes_before);
    return displaced;
  }

  // Returns the collected hits, the best first, and forgets them.
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
