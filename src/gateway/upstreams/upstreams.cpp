#include "gateway/upstreams/upstreams.hpp"

#include <algorithm>

#include "gateway/upstreams/local_provider.hpp"

namespace proteus::gateway {

UpstreamTable::UpstreamTable(std::vector<ServedUpstream> in_order, Locals within)
    : order(std::move(in_order)), locals(std::move(within)) {
  for (const auto& served : order) {
    by_name.emplace(served->settings().name, served);
    any_direct = any_direct || served->is_direct();
    const bool renames = served->rules().style == catalog::NameStyle::portable || served->shapes_tools();
    routed_by_lists = routed_by_lists || (served->is_direct() && (order.size() > 1 || renames));
    any_expiring = any_expiring || served->settings().ttl.count() > 0;
  }
  any_on_demand = any_direct || any_expiring;
}

const ServedUpstream* UpstreamTable::find(const std::string& name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : &found->second;
}

std::shared_ptr<LocalProvider> UpstreamTable::find_local(const catalog::UpstreamName& name) const {
  const auto found = std::ranges::find_if(locals, [&](const auto& local) { return local->name() == name; });
  return found == locals.end() ? nullptr : *found;
}

}  // namespace proteus::gateway
