#include "gateway/request/connect_tool.hpp"

#include <fmt/format.h>

#include "gateway/grants/sign_ins.hpp"
#include "gateway/request/errand.hpp"
#include "json/text.hpp"
#include "providers/http_tool/http_tool_call.hpp"

namespace proteus::gateway {
namespace {

mcp::Reply connected(const ServedUpstream& upstream) {
  return providers::tool_text(
      fmt::format("{} is connected. Its own tools are listed now.", upstream->settings().label()));
}

}  // namespace

catalog::DefinitionList::Pointer unconnected_list(catalog::Kind kind, const providers::Upstream& upstream) {
  if (kind != catalog::Kind::tool) return catalog::DefinitionList::empty(kind);
  const std::string label = upstream.settings().label();
  // Read-only, because the tool itself changes nothing: it asks its caller.
  const std::string tool = fmt::format(
      R"({{"name":"{}","title":{},"description":{},"inputSchema":{{"type":"object","properties":{{}}}},)"
      R"("annotations":{{"readOnlyHint":true}}}})",
      kConnectTool, json::quote("Connect " + label),
      json::quote(fmt::format("Asks the user to sign in to {}. Its own tools are listed once that is done.", label)));
  const std::string_view raw = tool;
  auto built = catalog::DefinitionList::build(kind, std::span(&raw, 1), upstream.rules(), catalog::ListLimits{});
  return built ? std::move(*built) : catalog::DefinitionList::empty(kind);
}

bool GatewayService::is_connect_tool(const server::Call& call, const Route& route) const {
  return sign_ins_ != nullptr && route.own == kConnectTool && route.kind == catalog::Kind::tool &&
         call.request().method->method == mcp::Method::tools_call && route.upstream->is_direct() &&
         sign_ins_->must_connect(call.caller(), *route.upstream.upstream);
}

Task<mcp::Outcome> GatewayService::connect(server::Call& call, Errand errand) {
  if (auto answered = co_await sign_ins_->ask(call, {errand.route.upstream, {}})) co_return std::move(*answered);
  co_return connected(errand.route.upstream);
}

Task<mcp::Outcome> GatewayService::forward_signed_in(server::Call& call, Timing timing, ConcurrencyLimit::Pass place) {
  if (auto answered = co_await sign_ins_->come_back(call)) {
    timing.end(*answered);
    co_return std::move(*answered);
  }
  auto route = route_at_once(call, here());
  // The tool was called before the upstream had other tools, and its caller has signed in since.
  if (route && *route && (*route)->upstream && (*route)->own == kConnectTool && !(*route)->found &&
      (*route)->upstream->settings().authentication.is_per_caller() &&
      !sign_ins_->must_connect(call.caller(), *(*route)->upstream.upstream)) {
    mcp::Outcome outcome = connected((*route)->upstream);
    timing.end(outcome);
    co_return outcome;
  }
  co_return co_await forward(call, timing, std::move(place), std::move(route), timing.now());
}

}  // namespace proteus::gateway
