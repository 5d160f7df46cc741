#pragma once

#include <cstddef>
#include <vector>

namespace proteus::json::schema {

// The positions of the members or items of one container that some rule has evaluated. `unevaluatedProperties` and
// `unevaluatedItems` skip them.
class Evaluated {
 public:
  explicit Evaluated(std::size_t size) : seen_(size) {}

  void add(std::size_t position) { seen_[position] = true; }
  void add_all() { all_ = true; }
  void add(const Evaluated& other) {
    all_ = all_ || other.all_;
    if (all_) return;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (other.seen_[i]) seen_[i] = true;
    }
  }
  bool has(std::size_t position) const { return all_ || seen_[position]; }

 private:
  std::vector<bool> seen_;
  bool all_ = false;
};

}  // namespace proteus::json::schema
