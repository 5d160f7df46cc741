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

// An upstream that calls may go to. Calls under way keep it, also when it has been removed.
struct ServedUpstream {
  std::uint64_t instance = 0;  // another one for each, also of the same name
  std::shared_ptr<providers::Upstream> upstream;
  UpstreamMeter* meter = nullptr;     // lives as long as the upstream; null where nobody counts
  ConcurrencyLimit* calls = nullptr;  // lives as long as the upstream

  providers::Upstream* operator->() const { return upstream.get(); }
  explicit operator bool() const { return upstream != nullptr; }
};

using Locals = std::vector<std::shared_ptr<LocalProvider>>;

// The upstreams there are, at one moment: in the order they were configured, and by name. In front of them stand those
// who answer within the process. Immutable.
struct UpstreamTable {
  UpstreamTable() = default;
  explicit UpstreamTable(std::vector<ServedUpstream> in_order, Locals within = {});

  std::vector<ServedUpstream> order;
  std::unordered_map<std::string, ServedUpstream> by_name;
  Locals locals;
  bool any_direct = false;
  bool routed_by_lists = false;  // who gets a request may follow from what upstreams listed to its caller
  bool any_expiring = false;     // what is listed of some is too old to use after a while
  bool any_on_demand = false;    // a list may have to ask an upstream first

  const ServedUpstream* find(const std::string& name) const;
  std::shared_ptr<LocalProvider> find_local(const catalog::UpstreamName& name) const;
};

using UpstreamTables = Published<UpstreamTable>;

}  // namespace proteus::gateway
