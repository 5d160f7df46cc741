#include "admin/routes/connection_routes.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/date_time.hpp"

namespace proteus::admin {
namespace {

struct ConnectionDesk {
  gateway::Vault& vault;
  gateway::SignInDesk& sign_ins;
  BackgroundThreads& background;
};

// Contains no secret of the grant.
boost::json::object connection_document(const gateway::Grant& grant) {
  const bool is_gateway = grant.owner == gateway::gateway_owner();
  boost::json::object out{{"id", grant.id},
                          {"upstream", grant.upstream},
                          {"subject", is_gateway ? "gateway" : "caller"},
                          {"principal", grant.owner_name},
                          {"issuer", grant.issuer()},
                          {"resource", grant.resource},
                          {"client_id", grant.client.id},
                          {"scopes", boost::json::array(grant.tokens.scopes.begin(), grant.tokens.scopes.end())},
                          {"state", to_string(grant.state)},
                          {"connected_at", write_date_time(grant.connected_at)}};
  if (grant.refreshed_at != grant.connected_at) out["refreshed_at"] = write_date_time(grant.refreshed_at);
  if (grant.tokens.expires) out["expires_at"] = write_date_time(*grant.tokens.expires);
  if (!grant.trouble.empty()) out["last_error"] = grant.trouble;
  return out;
}

// Writes the list in the background, because each user may have a connection with each upstream.
Task<Result<Answer>> list(ConnectionDesk desk) {
  co_return Answer{.body = co_await desk.background.run([&vault = desk.vault] {
    boost::json::array all;
    for (const auto& grant : vault.all())
      all.push_back(connection_document(*grant));
    return boost::json::serialize(boost::json::object{{"connections", std::move(all)}});
  })};
}

Task<Result<Answer>> begin(ConnectionDesk desk, AdminRequest& request) {
  const auto body = request.body();
  if (!body) co_return std::unexpected(body.error());
  const auto* const object = body->if_object();
  const auto* const upstream = object != nullptr ? object->if_contains("upstream") : nullptr;
  if (upstream == nullptr || !upstream->is_string() || object->size() != 1)
    co_return std::unexpected(errors::invalid(R"(the body is {"upstream": NAME})"));
  auto url = desk.sign_ins.url_for_operator(std::string(upstream->get_string()), request.who(), request.issuer());
  if (!url) co_return std::unexpected(std::move(url.error()));
  co_return Answer{.status = 201,
                   .body = boost::json::serialize(
                       boost::json::object{{"upstream", *upstream}, {"url", *url}, {"expires_in", "10m"}}),
                   .fields = "Cache-Control: no-store\r\n"};
}

Task<Result<Answer>> end(ConnectionDesk desk, AdminRequest& request) {
  const auto done = co_await desk.sign_ins.disconnect(request.variable("id"), request.who());
  if (!done) co_return std::unexpected(done.error());
  boost::json::object last = connection_document(*done->grant);
  last["state"] = "disconnected";
  last["revoked"] = done->revoked;
  if (!done->why_not.empty()) last["last_error"] = done->why_not;
  co_return Answer{.body = boost::json::serialize(last)};
}

}  // namespace

Routes connection_routes(gateway::Vault& vault, gateway::SignInDesk& sign_ins, BackgroundThreads& background) {
  const ConnectionDesk desk{vault, sign_ins, background};
  return {
      {.method = "GET",
       .path = "/admin/connections",
       .answer = "{ connections: Connection[] }",
       .help = "Shows who has connected which upstream, since when and with which scopes; no tokens.",
       .handle = [desk](AdminRequest&) { return list(desk); }},
      {.method = "POST",
       .path = "/admin/connections",
       .answer = "{ upstream: string; url: string; expires_in: string }",
       .help =
           "Begins to connect an upstream for the gateway itself; the body names it. The answer has the URL to open, "
           "which works once, for ten minutes and for whoever asked.",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return begin(desk, request); }},
      {.method = "DELETE",
       .path = "/admin/connections/{id}",
       .answer = "EndedConnection",
       .help = "Ends a connection, and revokes its token where the authorization server offers that.",
       .effect = Effect::changes,
       .handle = [desk](AdminRequest& request) { return end(desk, request); }},
  };
}

}  // namespace proteus::admin
