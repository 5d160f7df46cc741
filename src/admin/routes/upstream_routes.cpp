#include "admin/routes/upstream_routes.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "admin/routes/upstream_document.hpp"
#include "base/log/log.hpp"
#include "json/text.hpp"

namespace proteus::admin {
namespace {

constexpr std::size_t kMostOfOne = 1000;
constexpr std::size_t kMostOfMany = 20;  // for each upstream

struct UpstreamDesk {
  gateway::Gateway& gateway;
  gateway::UpstreamRegistry& registry;
  store::Store& store;
};

std::string show(const UpstreamDesk& desk, const gateway::RegisteredUpstream& registered) {
  const auto table = desk.gateway.upstreams();
  const catalog::View view(desk.gateway.catalog().current());
  return boost::json::serialize(upstream_document(registered, table->find(registered.name()), view, kMostOfOne));
}

Error unknown(std::string_view name) {
  return errors::not_found(fmt::format("there is no upstream {}", log::printable(name, 100)));
}

std::string show_all(const UpstreamDesk& desk) {
  const auto table = desk.gateway.upstreams();
  const catalog::View view(desk.gateway.catalog().current());
  boost::json::array all;
  for (const auto& one : *desk.registry.all())
    all.push_back(upstream_document(*one, table->find(one->name()), view, kMostOfMany));
  return boost::json::serialize(boost::json::object{{"upstreams", std::move(all)}});
}

// Writes the list in the background: there may be thousands of upstreams, and the page polls every few seconds.
Task<Result<Answer>> list(UpstreamDesk desk) {
  co_return Answer{.body = co_await desk.gateway.background_threads().run([desk] { return show_all(desk); })};
}

Task<Result<Answer>> create(UpstreamDesk desk, AdminRequest& request) {
  auto body = request.body();
  if (!body) co_return std::unexpected(std::move(body.error()));
  const auto created = co_await desk.registry.create(std::move(*body), request.who());
  if (!created) co_return std::unexpected(created.error());
  co_return Answer{.status = 201,
                   .body = show(desk, **created),
                   .fields = fmt::format("Location: /admin/upstreams/{}\r\n", (*created)->name())};
}

Task<Result<Answer>> get(UpstreamDesk desk, AdminRequest& request) {
  const std::string name = request.variable("name");
  const auto found = desk.registry.find(name);
  if (!found) co_return std::unexpected(unknown(name));
  co_return Answer{.body = show(desk, *found)};
}

Task<Result<Answer>> patch(UpstreamDesk desk, AdminRequest& request) {
  auto body = request.body();
  if (!body) co_return std::unexpected(std::move(body.error()));
  gateway::UpstreamRegistry::Expected expected;
  if (const auto tag = request.exchange().request().fields().find("If-Match"); tag && *tag != "*") {
    expected = [tag = std::string(*tag)](const gateway::RegisteredUpstream& now) {
      // Scripts may still send `updated_at`, which processes do not share while only the file defines the upstream.
      return tag == fmt::format("\"{}\"", now.revision()) || tag == fmt::format("\"{}\"", write_time(now.updated_at));
    };
  }
  const auto patched =
      co_await desk.registry.patch(request.variable("name"), std::move(*body), request.who(), std::move(expected));
  if (!patched) co_return std::unexpected(patched.error());
  co_return Answer{.body = show(desk, **patched)};
}

Task<Result<Answer>> remove(UpstreamDesk desk, AdminRequest& request) {
  const std::string name = request.variable("name");
  const auto found = desk.registry.find(name);
  if (!found) co_return std::unexpected(unknown(name));
  std::string last = show(desk, *found);
  const auto removed = co_await desk.registry.remove(name, request.who());
  if (!removed) co_return std::unexpected(removed.error());
  co_return Answer{.body = std::move(last)};
}

Task<Result<Answer>> refresh(UpstreamDesk desk, AdminRequest& request) {
  const std::string name = request.variable("name");
  const auto found = desk.registry.find(name);
  if (!found) co_return std::unexpected(unknown(name));
  const auto table = desk.gateway.upstreams();
  const auto* known = table->find(name);
  if (known == nullptr) {
    const std::string_view why = found->fault.empty() ? "it is paused" : std::string_view(found->fault);
    co_return std::unexpected(errors::conflict(fmt::format("upstream {} is not served: {}", name, why)));
  }
  const gateway::ServedUpstream served = *known;
  const auto audited =
      co_await desk.store.append(store::AuditRecord{.number = 0,
                                                    .at = store::to_time(desk.gateway.clock().wall()),
                                                    .who = request.who(),
                                                    .what = "upstream.refresh",
                                                    .detail = fmt::format(R"({{"name":{}}})", json::quote(name))});
  // A full disk must not prevent a refresh.
  if (!audited) log::warning("a refresh is not audited: {}", audited.error().message());
  const auto result = co_await served->refresh();
  co_return Answer{.body = providers::write_refresh_result(result)};
}

}  // namespace

Routes upstream_routes(gateway::Gateway& gateway, gateway::UpstreamRegistry& registry, store::Store& store) {
  const UpstreamDesk desk{gateway, registry, store};
  return {
      {.method = "GET",
       .path = "/admin/upstreams",
       .answer = "{ upstreams: Upstream[] }",
       .help = "Shows all upstreams with their status, in the order in which they win names.",
       .handle = [desk](AdminRequest&) { return list(desk); }},
      {.method = "POST",
       .path = "/admin/upstreams",
       .answer = "Upstream",
       .help = "Registers an upstream; the body has the keys of [[upstreams]].",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return create(desk, request); }},
      {.method = "GET",
       .path = "/admin/upstreams/{name}",
       .answer = "Upstream",
       .help = "Shows one upstream with its status.",
       .handle = [desk](AdminRequest& request) { return get(desk, request); }},
      {.method = "PATCH",
       .path = "/admin/upstreams/{name}",
       .answer = "Upstream",
       .help = "Changes the keys in the body; null resets a key. For an upstream of the file this is an override. With "
               "If-Match, only while its `revision` is that.",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return patch(desk, request); }},
      {.method = "DELETE",
       .path = "/admin/upstreams/{name}",
       .answer = "Upstream",
       .help = "Removes an upstream that was registered here.",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return remove(desk, request); }},
      {.method = "POST",
       .path = "/admin/upstreams/{name}/refresh",
       .answer = "RefreshResult",
       .help = "Reads the upstream's lists now, and says what changed.",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return refresh(desk, request); }},
  };
}

}  // namespace proteus::admin
