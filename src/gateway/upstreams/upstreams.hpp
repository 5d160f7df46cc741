#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/published.hpp"
#include "providers/upstream.hpp"

namespace proteus::gateway {

class LocalProvider;
class ConcurrencyLimit;
class UpstreamMeter;

// An upstream that may get calls. Running calls keep it alive, even after it was removed.
struct ServedUpstream {
  std::uint64_t instance = 0;  // unique, also among upstreams of the same name
  std::shared_ptr<providers::Upstream> upstream;
  UpstreamMeter* meter = nullptr;     // lives as long as the upstream; null if nothing is counted
  ConcurrencyLimit* calls = nullptr;  // lives as long as the upstream

  providers::Upstream* operator->() const { return upstream.get(); }
  explicit operator bool() const { return upstream != nullptr; }
};

using Locals = std::vector<std::shared_ptr<LocalProvider>>;

// The upstreams at one moment, in the configured order and by name, and the local providers, which come before them.
// Immutable.
struct UpstreamTable {
  UpstreamTable() = default;
  explicit UpstreamTable(std::vector<ServedUpstream> in_order, Locals within = {});

  std::vector<ServedUpstream> order;
  std::unordered_map<std::string, ServedUpstream> by_name;
  Locals locals;
  bool any_direct = false;
  bool routed_by_lists = false;  // routes may depend on what upstreams listed to the caller
  bool any_expiring = false;     // lists of some upstreams expire
  bool any_on_demand = false;    // a list may need a request to an upstream

  const ServedUpstream* find(const std::string& name) const;
  std::shared_ptr<LocalProvider> find_local(const catalog::UpstreamName& name) const;
};

using UpstreamTables = Published<UpstreamTable>;

}  // namespace proteus::gateway
