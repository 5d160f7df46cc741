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

// Who seeks grants for what, as far as one thread has worked it out: a call finds its own by two numbers. Of that
// thread.
class GrantSeekers {
 public:
  static constexpr std::size_t kMost = 20'000;

  // Null for an anonymous caller. `upstream` is the number of the upstream, which no other has; `target` is what its
  // grants are for, and `token` what the caller came with, where they are obtained by that.
  std::shared_ptr<const GrantSeeker> of(const server::Caller& caller, std::uint64_t upstream, const std::string& target,
                                        std::string_view token);
  // Lets go of those that were not asked for since the last time.
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
    std::shared_ptr<const server::Grant> principal;  // so that no other one gets its address
    std::shared_ptr<const GrantSeeker> seeker;
    bool used = true;
  };

  std::unordered_map<Key, Known, KeyHash> known_;
};

}  // namespace proteus::gateway
