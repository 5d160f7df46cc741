#include "gateway/upstreams/freshening.hpp"

#include <boost/asio/this_coro.hpp>

#include "base/tasks/task_group.hpp"

namespace proteus::gateway {

std::vector<ServedUpstream> expired_for(const catalog::Access& access, const UpstreamTable& upstreams) {
  std::vector<ServedUpstream> expired;
  if (!upstreams.any_expiring) return expired;
  for (const ServedUpstream& served : upstreams.order) {
    if (served->is_expired() && access.allows(served->name())) expired.push_back(served);
  }
  return expired;
}

Task<> freshen(std::vector<ServedUpstream> expired) {
  if (expired.size() == 1) co_return co_await expired.front()->freshen();
  TaskGroup refreshing(co_await boost::asio::this_coro::executor);
  for (const ServedUpstream& served : expired)
    refreshing.spawn("refresh on use", served->freshen());
  co_await refreshing.join();
}

}  // namespace proteus::gateway
