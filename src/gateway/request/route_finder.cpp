#include "gateway/request/route_finder.hpp"

#include <utility>

#include <boost/asio/this_coro.hpp>

#include "base/tasks/task_group.hpp"
#include "gateway/request/list_call.hpp"
#include "gateway/request/live_lists.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

}  // namespace

Result<std::variant<Route, UnreadLists>> RouteFinder::find(const Wanted& wanted) {
  const Asker& asker = lists_.asker();
  const auto context_view = worker_.context_view(asker.caller);
  return find_route(wanted, asker.caller, worker_.view(asker.caller, asker.session), worker_.upstreams(),
                    context_view ? context_view->guide : nullptr, lists_);
}

std::optional<Result<Route>> RouteFinder::at_once(const Wanted& wanted) {
  auto found = find(wanted);
  if (found) {
    if (auto* route = std::get_if<Route>(&*found)) return std::move(*route);
    return std::nullopt;
  }
  // An upstream may list the name by now.
  if (lists_.recalled()) return std::nullopt;
  return std::unexpected(std::move(found.error()));
}

Task<Result<Route>> RouteFinder::run(Wanted wanted, UpstreamMeans means, server::Cancellation& cancellation) {
  for (;;) {
    auto found = find(wanted);
    if (!found) {
      const bool again =
          lists_.recalled() && worker_.quota(lists_.asker().caller.principal).may_look_again(means.clock.now());
      if (!again) co_return std::unexpected(std::move(found.error()));
      lists_.read_anew();
      continue;
    }
    if (auto* route = std::get_if<Route>(&*found)) co_return std::move(*route);
    co_await read(std::get<UnreadLists>(*found), means, cancellation);
    if (cancellation.requested()) co_return std::unexpected(errors::cancelled("the request"));
  }
}

Task<> RouteFinder::read(const UnreadLists& unread, const UpstreamMeans& means, server::Cancellation& cancellation) {
  TaskGroup reading(co_await boost::asio::this_coro::executor);
  for (const ServedUpstream& upstream : unread.upstreams)
    reading.spawn("lists for a route", read_one(upstream, unread.kind, means, cancellation));
  co_await reading.join();
}

Task<> RouteFinder::read_one(ServedUpstream upstream, Kind kind, const UpstreamMeans& means,
                             server::Cancellation& cancellation) {
  ListCall asking(lists_.asker(), kind, cancellation);
  LivePages live(asking.call(), worker_, means);
  const auto most = upstream->settings().timeout;
  (void)co_await live.read_all(std::move(upstream), kind, lists_, most);
}

}  // namespace proteus::gateway
