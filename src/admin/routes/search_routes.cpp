#include "admin/routes/search_routes.hpp"

#include <memory>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/callers/search_definitions.hpp"
#include "gateway/operate/viewpoint.hpp"

namespace proteus::admin {
namespace {

using boost::json::array;
using boost::json::object;

// Finds what `search_tools` would find, except in upstreams that are listed live: these list only to the caller.
Task<Result<Answer>> search(gateway::Gateway& gateway, gateway::SearchTools& tools, AdminRequest& request) {
  const auto who = request.text("as");
  const auto context = request.text("context");
  const auto text = request.text("q");
  for (const auto* given : {&who, &context, &text}) {
    if (!*given) co_return std::unexpected(given->error());
  }
  if (!*text) co_return std::unexpected(errors::invalid("q is missing: what to search for"));
  const auto limit = request.limit();
  if (!limit) co_return std::unexpected(limit.error());
  auto principal = gateway::find_whom(gateway, *who);
  if (!principal) co_return std::unexpected(std::move(principal.error()));
  const auto entered = gateway.access()->enter(std::move(*principal), context->value_or(""));
  if (!entered) {
    co_return std::unexpected(
        errors::not_found(fmt::format("context {}: {}", log::printable(context->value_or(""), 100), entered.error())));
  }
  const server::Caller& caller = *entered;

  gateway::Worker& worker = gateway.service().here();
  const auto usable = std::make_shared<const gateway::UsableTools>(worker.view(caller));
  array unasked;
  for (const auto& served : worker.upstreams().order) {
    if (served->is_direct() && gateway::principal_of(caller).access().allows(served->name()))
      unasked.emplace_back(served->settings().name);
  }
  const std::size_t most = std::min(*limit, gateway::SearchArguments::kMostHits);
  const std::string_view query = **text;
  const auto found = co_await tools.search().find(usable, {&query, 1}, most);
  if (!found) co_return std::unexpected(found.error());
  array hits;
  for (const auto& hit : *found) {
    hits.push_back(object{{"name", hit.name},
                          {"upstream", hit.upstream},
                          {"score", hit.score},
                          {"signature", hit.signature},
                          {"description", hit.description},
                          {"read_only", hit.read_only}});
  }
  object out{{"tools", std::move(hits)}};
  if (!unasked.empty()) out["unasked"] = std::move(unasked);
  if (const auto* const embeddings = tools.search().embeddings(); embeddings != nullptr && embeddings->enabled()) {
    const auto status = embeddings->status();
    out["embeddings"] = object{{"tools", status.tools}, {"failures", status.failures}, {"fault", status.fault}};
  }
  co_return Answer{.body = boost::json::serialize(out)};
}

}  // namespace

Routes search_routes(gateway::Gateway& gateway, gateway::SearchTools& tools) {
  return {{.method = "GET",
           .path = "/admin/search",
           .answer = "Found",
           .help = "Shows what `search_tools` finds for a caller. Upstreams that are listed live are named, but not "
                   "searched.",
           .parameters = {{"as", "Name of a principal, or the claims of a token as JSON; by default all tools."},
                          {"context", "Name of a context."},
                          {"q", "What to search for."},
                          {"limit", "How many tools to find, up to 50."}},
           .handle = [&gateway, &tools](AdminRequest& request) { return search(gateway, tools, request); }}};
}

}  // namespace proteus::admin
