#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "providers/upstream.hpp"

namespace proteus::gateway {

// An upstream that calls may go to. Calls under way keep it, also when it has been removed.
struct ServedUpstream {
  std::uint64_t instance = 0;  // another one for each, also of the same name
  std::shared_ptr<providers::Upstream> upstream;

  providers::Upstream* operator->() const { return upstream.get(); }
  explicit operator bool() const { return upstream != nullptr; }
};

// The upstreams there are, at one moment: in the order they were configured, and by name. Immutable.
struct UpstreamTable {
  std::uint64_t version = 0;
  std::vector<ServedUpstream> order;
  std::unordered_map<std::string, ServedUpstream> by_name;
  bool any_direct = false;
  bool any_on_demand = false;  // a list may have to ask an upstream first

  const ServedUpstream* find(const std::string& name) const {
    const auto found = by_name.find(name);
    return found == by_name.end() ? nullptr : &found->second;
  }
};

// The current table. Readers keep what they saw last and look for another only when there is one.
class UpstreamTables {
 public:
  UpstreamTables() : table_(std::make_shared<const UpstreamTable>()) {}

  std::shared_ptr<const UpstreamTable> current() const {
    const std::scoped_lock lock(mutex_);
    return table_;
  }
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
  void set(std::vector<ServedUpstream> order);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const UpstreamTable> table_;
  std::atomic<std::uint64_t> version_ = 0;
};

}  // namespace proteus::gateway
