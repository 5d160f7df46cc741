#include "gateway/upstreams.hpp"

namespace proteus::gateway {

void UpstreamTables::set(std::vector<ServedUpstream> order) {
  auto table = std::make_shared<UpstreamTable>();
  for (const auto& served : order) {
    table->by_name.emplace(served->settings().name, served);
    table->any_direct = table->any_direct || served->is_direct();
    table->any_on_demand = table->any_on_demand || served->is_direct() || served->settings().ttl.count() > 0;
  }
  table->order = std::move(order);
  const std::scoped_lock lock(mutex_);
  table->version = table_->version + 1;
  table_ = std::move(table);
  version_.store(table_->version, std::memory_order_release);
}

}  // namespace proteus::gateway
