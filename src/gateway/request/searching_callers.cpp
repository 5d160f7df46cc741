// Support for callers who search: the tools that they may use, and help if they have named an unknown one.
#include "gateway/callers/search_definitions.hpp"
#include "gateway/request/errand.hpp"
#include "gateway/request/usable_tools.hpp"
#include "gateway/upstreams/local_provider.hpp"

namespace proteus::gateway {

Task<UsableTools> GatewayService::usable_tools(server::Call& call) {
  if (auto behind = lists_behind(call)) co_await OwnLists::caught_up(std::move(behind), OwnLists::kUsualWait);
  CallerLists lists(remembered_, Asker::of(call));
  UsableToolsReader reader(lists, here(), means(), call.cancellation());
  co_return co_await reader.run();
}

Task<mcp::Outcome> GatewayService::refuse(server::Call& call, const Timing& timing, Error why) {
  if (call.stands_for_another() && why.kind() == ErrorKind::not_found) {
    if (auto searching = here().upstreams().find_local(search_provider()))
      return timing.around(name_nearest(call, std::move(searching), here().view(call)));
  }
  return timing.refuse(std::move(why));
}

Task<mcp::Outcome> GatewayService::name_nearest(server::Call& call, std::shared_ptr<LocalProvider> searching,
                                                std::shared_ptr<const catalog::View> view) {
  co_return co_await searching->handle(call, view->find(catalog::Kind::tool, call.sent().name));
}

}  // namespace proteus::gateway
