// Routes requests by path.
#include <array>

#include "admin/http/problem.hpp"
#include "app/serving/serving_dependencies.hpp"
#include "server/http/cors.hpp"

namespace proteus::app {
namespace {

Task<> reply_not_found(net::Exchange& exchange, std::string_view hint) {
  const std::array<std::string_view, 3> parts = {"There is nothing at this path", hint, ".\n"};
  co_await exchange.reply({.status = 404, .content_type = "text/plain"}, parts);
}

}  // namespace

bool is_at(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

Task<> Serving::route(net::Exchange& exchange, const server::HostRules& operators) {
  const std::string_view path = exchange.request().path();
  if (is_at(path, "/mcp")) return gateway_->handle(exchange);
  const bool is_old_sse = is_at(path, "/sse");
  if (is_old_sse && config_.server.old_sse) return gateway_->handle_old_sse(exchange);
  if (path.starts_with(gateway::Resources::kWellKnown)) return reply_resource_metadata(exchange);
  if (gateway::ConnectSite::owns(path)) return show_connect_page(exchange);
  if (admin::GraphTools::owns(path)) return dependencies_->graph_tools.handle(exchange);
  if (auto allowed = operators.check(exchange.request(), &gateway_->refusals()); !allowed)
    return admin::reply_problem(exchange, std::move(allowed.error()));
  if (admin::Ops::owns(path)) {
    const bool open = config_.server.listen.is_loopback();
    return dependencies_->ops.handle(exchange, open ? admin::MetricsAccess::open : admin::MetricsAccess::with_secret);
  }
  return reply_not_found(exchange, is_old_sse ? "; [server] old_sse = true serves the HTTP+SSE transport here, and "
                                                "Streamable HTTP is at /mcp"
                                              : "; MCP clients connect to /mcp");
}

// Origins that may use MCP must not for that reason reach the admin API, which can run programs.
Task<> Serving::route_admin(net::Exchange& exchange) {
  if (auto allowed = admin_rules_.check(exchange.request(), &gateway_->refusals()); !allowed)
    return admin::reply_problem(exchange, std::move(allowed.error()));
  if (admin::Page::owns(exchange.request().path())) return dependencies_->page.handle(exchange);
  return dependencies_->router.handle(exchange);
}

Task<> Serving::route_ops(net::Exchange& exchange, const server::HostRules& operators) {
  if (auto allowed = operators.check(exchange.request(), &gateway_->refusals()); !allowed)
    return admin::reply_problem(exchange, std::move(allowed.error()));
  if (admin::Ops::owns(exchange.request().path()))
    return dependencies_->ops.handle(exchange, admin::MetricsAccess::open);
  return reply_not_found(exchange, "");
}

// Returns the configured URL, or that of the listener. Never derived from a request, because it names the protected
// resources.
net::Url Serving::public_url() const {
  const auto given = net::Url::parse(config_.server.public_url);
  return given ? *given : *net::Url::parse(origin());
}

Task<> Serving::reply_resource_metadata(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  const auto origin = host_rules().check(request, &gateway_->refusals());
  if (!origin) co_return co_await admin::reply_problem(exchange, origin.error());
  if (*origin) exchange.add_fields(server::cors_fields(**origin));
  if (request.method() == "OPTIONS") {
    exchange.add_fields(server::options_fields(request, "GET, OPTIONS"));
    co_await exchange.reply({.status = 204});
    co_return;
  }
  const auto metadata = gateway_->identities().metadata_at(request.path());
  if (!metadata) co_return co_await reply_not_found(exchange, "");
  if (request.method() != "GET" && request.method() != "HEAD") {
    co_return co_await admin::reply_problem(exchange, 405, errors::unsupported("this path takes GET and OPTIONS"),
                                            "Allow: GET, OPTIONS\r\n");
  }
  co_await exchange.reply(
      {.status = 200, .content_type = "application/json", .prepared = "Cache-Control: max-age=300\r\n"}, *metadata);
}

// Always allows the gateway's own origin, because its pages post these forms.
Task<> Serving::show_connect_page(net::Exchange& exchange) {
  server::HostRules rules = host_rules();
  rules.allowed_origins.emplace_back(public_url().origin());
  if (auto allowed = rules.check(exchange.request(), &gateway_->refusals()); !allowed)
    return admin::reply_problem(exchange, std::move(allowed.error()));
  return dependencies_->sign_ins.site().handle(exchange);
}

}  // namespace proteus::app
