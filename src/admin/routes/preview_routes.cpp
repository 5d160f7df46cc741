#include "admin/routes/preview_routes.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/operate/preview.hpp"

namespace proteus::admin {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

struct PreviewDesk {
  gateway::Gateway& gateway;
  gateway::UpstreamRegistry& registry;
  gateway::TokenRegistry& tokens;
  gateway::PinDecisions& pins;
};

object names(const std::vector<std::string>& some, std::size_t total) {
  return {{"total", total}, {"names", array(some.begin(), some.end())}};
}

object document(const gateway::Preview& preview) {
  array affected;
  for (const auto& one : preview.affected) {
    affected.push_back(object{{"as", one.whom ? value(*one.whom) : value(nullptr)},
                              {"context", one.context},
                              {"gains", names(one.gains, one.gained)},
                              {"loses", names(one.loses, one.lost)},
                              {"changes", names(one.changes, one.changed)}});
  }
  return {{"affected", std::move(affected)}, {"looked_at", preview.looks}, {"whole", preview.is_whole}};
}

Task<Result<Answer>> preview_upstream(PreviewDesk desk, std::string name, const value& settings) {
  const auto registered = desk.registry.find(name);
  if (!registered)
    co_return std::unexpected(errors::not_found(fmt::format("there is no upstream {}", log::printable(name, 100))));
  auto next = registered->entry.settings;
  // Null means that the upstream is removed.
  if (!settings.is_null()) {
    auto imagined = co_await desk.registry.imagine(name, settings);
    if (!imagined) co_return std::unexpected(std::move(imagined.error()));
    next = std::move(*imagined);
  }
  const auto upstreams = desk.gateway.upstreams();
  const gateway::ServedUpstream* const served = upstreams->find(name);
  const bool stays = !settings.is_null() && next.enabled;
  const bool becomes_live = stays && next.refresh_strategy == providers::RefreshStrategy::direct_proxy;
  const bool is_live = served != nullptr && (*served)->is_direct();
  // Lists that nobody has read yet cannot be compared.
  const bool is_unread = stays && !becomes_live && (served == nullptr || is_live);
  catalog::SnapshotPointer offered;
  if (stays && !becomes_live && !is_unread) {
    auto imagined = co_await (*served)->imagine(next);
    if (!imagined) co_return std::unexpected(std::move(imagined.error()));
    offered = std::move(*imagined);
  }
  const auto found = co_await desk.gateway.background_threads().run(
      [&gateway = desk.gateway, upstream = catalog::UpstreamName(name), offered = std::move(offered)] {
        return gateway::preview(gateway, upstream, offered);
      });
  object out = document(found);
  out["upstream"] = name;
  out["becomes_live"] = becomes_live && !is_live;
  out["unread"] = is_unread;
  co_return Answer{.body = boost::json::serialize(out)};
}

Task<Result<Answer>> preview_token(PreviewDesk desk, const value& keys) {
  auto newcomer = desk.tokens.imagine(keys);
  if (!newcomer) co_return std::unexpected(std::move(newcomer.error()));
  const auto found = co_await desk.gateway.background_threads().run(
      [&gateway = desk.gateway, newcomer = std::move(*newcomer)] { return gateway::preview(gateway, newcomer); });
  co_return Answer{.body = boost::json::serialize(document(found))};
}

// Previews the ratification of a proposal; a rejection changes nothing that is served.
Task<Result<Answer>> preview_proposal(PreviewDesk desk, std::string id) {
  const auto found = desk.pins.find(id);
  if (!found) co_return std::unexpected(errors::not_found("there is no such proposal any more"));
  const catalog::Proposal& proposal = *found->posted.proposal;
  const auto upstreams = desk.gateway.upstreams();
  const gateway::ServedUpstream* const served = upstreams->find(found->upstream);
  const auto kind =
      std::ranges::find(catalog::kKinds, proposal.kind, [](catalog::Kind one) { return catalog::info(one).plural; });
  // Instructions are not entries, and only the upstream knows what it lists live.
  if (served == nullptr || kind == catalog::kKinds.end() || (*served)->is_direct())
    co_return Answer{.body = boost::json::serialize(document({}))};
  auto offered = co_await (*served)->imagine(
      (*served)->settings(),
      providers::Upstream::Proposed{.kind = *kind, .own = proposal.name, .text = proposal.after});
  if (!offered) co_return std::unexpected(std::move(offered.error()));
  const auto preview = co_await desk.gateway.background_threads().run(
      [&gateway = desk.gateway, upstream = (*served)->name(), offered = std::move(*offered)] {
        return gateway::preview(gateway, upstream, offered);
      });
  co_return Answer{.body = boost::json::serialize(document(preview))};
}

Task<Result<Answer>> preview(PreviewDesk desk, AdminRequest& request) {
  const auto body = request.body();
  if (!body) co_return std::unexpected(body.error());
  const auto* const given = body->if_object();
  const auto member = [&](std::string_view key) { return given != nullptr ? given->if_contains(key) : nullptr; };
  const value* const upstream = member("upstream");
  const value* const settings = member("settings");
  const value* const token = member("token");
  const value* const proposal = member("proposal");
  if (upstream != nullptr && upstream->is_string() && settings != nullptr && given->size() == 2)
    co_return co_await preview_upstream(desk, std::string(upstream->get_string()), *settings);
  if (token != nullptr && given->size() == 1) co_return co_await preview_token(desk, *token);
  if (proposal != nullptr && proposal->is_string() && given->size() == 1)
    co_return co_await preview_proposal(desk, std::string(proposal->get_string()));
  co_return std::unexpected(errors::invalid(
      R"(the body is {"upstream": NAME, "settings": {…}}, with null for an upstream that is to go, {"token": {…}}, or {"proposal": ID})"));
}

}  // namespace

Routes preview_routes(gateway::Gateway& gateway, gateway::UpstreamRegistry& registry, gateway::TokenRegistry& tokens,
                      gateway::PinDecisions& pins) {
  const PreviewDesk desk{gateway, registry, tokens, pins};
  return {{.method = "POST",
           .path = "/admin/preview",
           .answer = "Preview",
           .help = "Says who would gain and who would lose which entries by a change of an upstream, by a new "
                   "token, or if a proposal is ratified; changes nothing.",
           .handle = [desk](AdminRequest& request) { return preview(desk, request); }}};
}

}  // namespace proteus::admin
