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

// Immutable values that are the same for the same content, each once for as long as somebody has it. Keeps none of them
// alive. Thread-safe.
template <class T>
class SharedByDigest {
 public:
  using Pointer = std::shared_ptr<const T>;

  // Null where nobody has one.
  Pointer find(const Digest& digest) const {
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find(digest);
    return found == known_.end() ? nullptr : found->second.lock();
  }
  // The one that somebody has, or else this.
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
  // How many there are, or were until lately.
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
  std::size_t look_over_at_ = kFew;  // so many before those that nobody has any more are taken out
};

}  // namespace proteus::json
