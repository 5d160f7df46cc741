#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "json/canonical.hpp"

namespace proteus::json {

// Shares immutable values by the hash of their content, so that equal values exist once while they are in use. Holds
// only weak pointers. Thread-safe.
template <class T>
class SharedByDigest {
 public:
  using Pointer = std::shared_ptr<const T>;

  // Returns null if no value with this digest is in use.
  Pointer find(const Digest& digest) const {
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find(digest);
    return found == known_.end() ? nullptr : found->second.lock();
  }
  // Returns the value with this digest that is already in use; otherwise registers and returns `value`.
  Pointer share(const Digest& digest, Pointer value) {
    const std::scoped_lock lock(mutex_);
    auto& entry = known_[digest];
    if (auto known = entry.lock()) return known;
    entry = value;
    if (known_.size() >= look_over_at_) {
      std::erase_if(known_, [](const auto& one) { return one.second.expired(); });
      look_over_at_ = std::max(kFew, known_.size() * 2);
    }
    return value;
  }
  // Returns the number of entries, which includes values that were in use until recently.
  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return known_.size();
  }

 private:
  static constexpr std::size_t kFew = 64;
  struct Hash {
    std::size_t operator()(const Digest& digest) const {
      std::size_t hash = 0;
      std::memcpy(&hash, digest.data(), sizeof hash);
      return hash;
    }
  };

  mutable std::mutex mutex_;
  std::unordered_map<Digest, std::weak_ptr<const T>, Hash> known_;
  std::size_t look_over_at_ = kFew;  // entries at which the expired ones are erased
};

}  // namespace proteus::json
