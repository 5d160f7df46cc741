#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "gateway/grants/grant_authorizer.hpp"
#include "server/core/caller.hpp"

namespace proteus::gateway {

// One thread's cache of GrantSeekers, so that a call finds its own by caller and upstream instead of by long texts.
// Belongs to that thread.
class GrantSeekers {
 public:
  static constexpr std::size_t kMost = 20'000;

  // Returns null for an anonymous caller. `upstream` is the upstream's unique instance number, `target` what its grants
  // are for, and `token` the caller's own token if grants are obtained with it.
  std::shared_ptr<const GrantSeeker> of(const server::Caller& caller, std::uint64_t upstream, const std::string& target,
                                        std::string_view token);
  // Drops those that were not used since the last call.
  void drop_unused();
  void clear() { known_.clear(); }
  std::size_t size() const { return known_.size(); }

 private:
  using Key = std::pair<const server::Grant*, std::uint64_t>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return std::hash<const void*>{}(key.first) * 31 + std::hash<std::uint64_t>{}(key.second);
    }
  };
  struct Known {
    std::shared_ptr<const server::Grant> principal;  // keeps its address from being reused
    std::shared_ptr<const GrantSeeker> seeker;
    bool used = true;
  };

  std::unordered_map<Key, Known, KeyHash> known_;
};

}  // namespace proteus::gateway
