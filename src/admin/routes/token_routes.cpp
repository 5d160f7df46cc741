#include "admin/routes/token_routes.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "admin/routes/upstream_document.hpp"
#include "base/log/log.hpp"

namespace proteus::admin {
namespace {

using gateway::RuntimeToken;
using gateway::TokenRegistry;

struct TokenDesk {
  gateway::Gateway& gateway;
  TokenRegistry& registry;
};

void add_time(boost::json::object& out, std::string_view key, store::Time time) {
  if (time != store::Time{}) out[key] = write_time(time);
}

std::string_view state_of(bool served, store::Time expires_at, store::Time now) {
  if (!served) return "failed";
  return expires_at != store::Time{} && expires_at <= now ? "expired" : "active";
}

boost::json::object token_document(const TokenDesk& desk, const RuntimeToken& token) {
  const auto now = store::to_time(desk.gateway.clock().wall());
  boost::json::object out{{"name", token.name()},
                          {"origin", "runtime"},
                          {"state", state_of(token.principal != nullptr, token.expires_at, now)}};
  if (!token.fault.empty()) out["last_error"] = token.fault;
  for (auto& member : gateway::token_access_binding().write(token.keys))
    out.emplace(member.key(), std::move(member.value()));
  add_time(out, "created_at", token.created_at);
  add_time(out, "expires_at", token.expires_at);
  if (token.previous_until > now) add_time(out, "previous_until", token.previous_until);
  add_time(out, "last_used_at", desk.registry.last_used(token));
  return out;
}

// The configuration itself shows what the token may use.
boost::json::object token_document(const TokenDesk& desk, const gateway::Principal& configured) {
  const auto expires_at = configured.expires() ? store::to_time(*configured.expires()) : store::Time{};
  const auto now = store::to_time(desk.gateway.clock().wall());
  boost::json::object out{{"name", configured.name()}, {"origin", "file"}, {"state", state_of(true, expires_at, now)}};
  add_time(out, "expires_at", expires_at);
  return out;
}

std::string write_issued(const TokenDesk& desk, const TokenRegistry::Issued& issued) {
  boost::json::object out = token_document(desk, *issued.token);
  out["token"] = issued.secret.reveal();
  return boost::json::serialize(out);
}

Error no_such_token(std::string_view name) {
  return errors::not_found(fmt::format("there is no token {}", log::printable(name, 100)));
}

std::shared_ptr<const gateway::Principal> configured(const TokenDesk& desk, std::string_view name) {
  return desk.gateway.access()->principals->find_name(name);
}

// Fails unless the token was made at runtime: tokens of the configuration are changed there.
Result<> check_runtime(const TokenDesk& desk, const std::string& name) {
  if (desk.registry.find(name)) return {};
  if (configured(desk, name)) {
    return std::unexpected(
        errors::conflict(fmt::format("the token {} is one of the configuration, and is changed there", name)));
  }
  return std::unexpected(no_such_token(name));
}

// Writes the list in the background, because programs may make many tokens.
Task<Result<Answer>> list(TokenDesk desk) {
  co_return Answer{.body = co_await desk.gateway.background_threads().run([desk] {
    boost::json::array all;
    for (const auto& principal : desk.gateway.access()->principals->all())
      all.push_back(token_document(desk, *principal));
    for (const auto& [name, token] : *desk.registry.all())
      all.push_back(token_document(desk, *token));
    return boost::json::serialize(boost::json::object{{"tokens", std::move(all)}});
  })};
}

Task<Result<Answer>> create(TokenDesk desk, AdminRequest& request) {
  auto body = request.body();
  if (!body) co_return std::unexpected(std::move(body.error()));
  const auto issued = co_await desk.registry.create(std::move(*body), request.who());
  if (!issued) co_return std::unexpected(issued.error());
  co_return Answer{
      .status = 201,
      .body = write_issued(desk, *issued),
      .fields = fmt::format("Location: /admin/tokens/{}\r\nCache-Control: no-store\r\n", issued->token->name())};
}

Task<Result<Answer>> get(TokenDesk desk, AdminRequest& request) {
  const std::string name = request.variable("name");
  if (const auto token = desk.registry.find(name))
    co_return Answer{.body = boost::json::serialize(token_document(desk, *token))};
  const auto principal = configured(desk, name);
  if (!principal) co_return std::unexpected(no_such_token(name));
  co_return Answer{.body = boost::json::serialize(token_document(desk, *principal))};
}

Task<Result<Answer>> rotate(TokenDesk desk, AdminRequest& request) {
  const std::string name = request.variable("name");
  if (auto known = check_runtime(desk, name); !known) co_return std::unexpected(known.error());
  const bool is_plain = request.exchange().request().body().empty();
  auto body = is_plain ? Result<boost::json::value>(boost::json::object()) : request.body();
  if (!body) co_return std::unexpected(std::move(body.error()));
  const auto issued = co_await desk.registry.rotate(name, std::move(*body), request.who());
  if (!issued) co_return std::unexpected(issued.error());
  co_return Answer{.body = write_issued(desk, *issued), .fields = "Cache-Control: no-store\r\n"};
}

Task<Result<Answer>> revoke(TokenDesk desk, AdminRequest& request) {
  const std::string name = request.variable("name");
  if (auto known = check_runtime(desk, name); !known) co_return std::unexpected(known.error());
  const auto revoked = co_await desk.registry.revoke(name, request.who());
  if (!revoked) co_return std::unexpected(revoked.error());
  boost::json::object last = token_document(desk, *revoked->token);
  last["state"] = "revoked";
  if (!revoked->is_durable) last["durable"] = false;
  co_return Answer{.body = boost::json::serialize(last)};
}

}  // namespace

Routes token_routes(gateway::Gateway& gateway, TokenRegistry& registry) {
  const TokenDesk desk{gateway, registry};
  return {
      {.method = "GET",
       .path = "/admin/tokens",
       .answer = "{ tokens: Token[] }",
       .help = "Shows all tokens, without secrets: those of the configuration, then those made here.",
       .handle = [desk](AdminRequest&) { return list(desk); }},
      {.method = "POST",
       .path = "/admin/tokens",
       .answer = "IssuedToken",
       .help =
           "Makes a token; the body has its name, and optionally what it may use and when it expires. The answer shows "
           "the secret, once.",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return create(desk, request); }},
      {.method = "GET",
       .path = "/admin/tokens/{name}",
       .answer = "Token",
       .help = "Shows one token, without its secret.",
       .handle = [desk](AdminRequest& request) { return get(desk, request); }},
      {.method = "DELETE",
       .path = "/admin/tokens/{name}",
       .answer = "Token",
       .help = "Revokes a token that was made here, and ends what its holders have open.",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return revoke(desk, request); }},
      {.method = "POST",
       .path = "/admin/tokens/{name}/rotate",
       .answer = "IssuedToken",
       .help = "Gives a token that was made here a new secret, which the answer shows once. The old one works for the "
               "overlap, 24h unless the body says otherwise.",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return rotate(desk, request); }},
  };
}

}  // namespace proteus::admin
