#include "gateway/upstreams.hpp"

namespace proteus::gateway {

UpstreamTable::UpstreamTable(std::vector<ServedUpstream> in_order) : order(std::move(in_order)) {
  for (const auto& served : order) {
    by_name.emplace(served->settings().name, served);
    any_direct = any_direct || served->is_direct();
    any_on_demand = any_on_demand || served->is_direct() || served->settings().ttl.count() > 0;
  }
}

const ServedUpstream* UpstreamTable::find(const std::string& name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : &found->second;
}

}  // namespace proteus::gateway
