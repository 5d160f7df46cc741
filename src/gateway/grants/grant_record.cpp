#include "gateway/grants/grant_record.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "auth/oauth/scopes.hpp"
#include "json/text.hpp"

namespace proteus::gateway {
namespace {

using boost::json::object;

std::int64_t seconds(Clock::Wall time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}
Clock::Wall wall_of(std::int64_t seconds) { return Clock::Wall(std::chrono::seconds(seconds)); }

void put(object& into, std::string_view key, std::string_view text) {
  if (!text.empty()) into[key] = text;
}

std::string text_at(const object& from, std::string_view key) {
  const auto* found = from.if_contains(key);
  const auto* text = found != nullptr ? found->if_string() : nullptr;
  return text != nullptr ? std::string(*text) : std::string();
}

std::optional<std::int64_t> number_at(const object& from, std::string_view key) {
  const auto* found = from.if_contains(key);
  if (found == nullptr || !found->is_int64()) return std::nullopt;
  return found->get_int64();
}

std::optional<bool> flag_at(const object& from, std::string_view key) {
  const auto* found = from.if_contains(key);
  if (found == nullptr || !found->is_bool()) return std::nullopt;
  return found->get_bool();
}

object object_at(const object& from, std::string_view key) {
  const auto* found = from.if_contains(key);
  return found != nullptr && found->is_object() ? found->get_object() : object();
}

object written(const auth::oauth::Client& client) {
  object out;
  put(out, "issuer", client.issuer);
  put(out, "id", client.id);
  out["registered"] = static_cast<int>(client.registered);
  if (client.authentication) out["authentication"] = to_string(*client.authentication);
  // If the settings describe the client, they have its secret.
  if (client.registered == auth::oauth::Registered::dynamically) put(out, "secret", client.secret.reveal());
  if (client.expires) out["expires"] = seconds(*client.expires);
  put(out, "redirect_uri", client.redirect_uri);
  return out;
}

auth::oauth::Client client_of(const object& from) {
  auth::oauth::Client client;
  client.issuer = text_at(from, "issuer");
  client.id = text_at(from, "id");
  const auto registered = number_at(from, "registered").value_or(0);
  if (registered == 1) client.registered = auth::oauth::Registered::by_document;
  if (registered == 2) client.registered = auth::oauth::Registered::dynamically;
  client.authentication = auth::oauth::client_authentication_of(text_at(from, "authentication"));
  client.secret = Secret(text_at(from, "secret"));
  if (const auto expires = number_at(from, "expires")) client.expires = wall_of(*expires);
  client.redirect_uri = text_at(from, "redirect_uri");
  return client;
}

object written(const auth::ServerMetadata& server) {
  object out;
  put(out, "issuer", server.issuer);
  put(out, "token_endpoint", server.token_endpoint);
  put(out, "revocation_endpoint", server.revocation_endpoint);
  put(out, "auth_methods", auth::oauth::write_scopes(server.token_endpoint_auth_methods));
  put(out, "dpop_algorithms", auth::oauth::write_scopes(server.dpop_algorithms));
  return out;
}

auth::ServerMetadata server_of(const object& from) {
  auth::ServerMetadata server;
  server.issuer = text_at(from, "issuer");
  server.token_endpoint = text_at(from, "token_endpoint");
  server.revocation_endpoint = text_at(from, "revocation_endpoint");
  server.token_endpoint_auth_methods = auth::oauth::read_scopes(text_at(from, "auth_methods"));
  server.dpop_algorithms = auth::oauth::read_scopes(text_at(from, "dpop_algorithms"));
  return server;
}

object written(const auth::oauth::TokenAnswer& tokens) {
  object out;
  put(out, "access", tokens.access_token.reveal());
  put(out, "refresh", tokens.refresh_token.reveal());
  put(out, "id", tokens.id_token.reveal());
  out["dpop"] = tokens.type == auth::oauth::TokenType::dpop;
  if (tokens.expires) out["expires"] = seconds(*tokens.expires);
  put(out, "scopes", auth::oauth::write_scopes(tokens.scopes));
  return out;
}

auth::oauth::TokenAnswer tokens_of(const object& from) {
  auth::oauth::TokenAnswer tokens;
  tokens.access_token = Secret(text_at(from, "access"));
  tokens.refresh_token = Secret(text_at(from, "refresh"));
  tokens.id_token = Secret(text_at(from, "id"));
  tokens.type = flag_at(from, "dpop").value_or(false) ? auth::oauth::TokenType::dpop : auth::oauth::TokenType::bearer;
  if (const auto expires = number_at(from, "expires")) tokens.expires = wall_of(*expires);
  tokens.scopes = auth::oauth::read_scopes(text_at(from, "scopes"));
  return tokens;
}

}  // namespace

std::string write_grant(const Grant& grant, Rotation rotation) {
  object out;
  put(out, "id", grant.id);
  put(out, "owner", grant.owner.value());
  put(out, "owner_name", grant.owner_name);
  put(out, "target", grant.target.value());
  put(out, "upstream", grant.upstream);
  put(out, "resource", grant.resource);
  out["server"] = written(grant.server);
  out["client"] = written(grant.client);
  out["tokens"] = written(grant.tokens);
  put(out, "asked", auth::oauth::write_scopes(grant.asked));
  if (grant.proof_key) put(out, "proof_key", grant.proof_key->pem().reveal());
  out["connected_at"] = seconds(grant.connected_at);
  out["refreshed_at"] = seconds(grant.refreshed_at);
  if (grant.state == GrantState::needs_sign_in) out["needs_sign_in"] = true;
  put(out, "trouble", grant.trouble);
  if (grant.rotates) out["rotates"] = *grant.rotates;
  if (rotation == Rotation::begun) out["rotation_begun"] = true;
  return boost::json::serialize(out);
}

Result<Grant> read_grant(std::string_view text) {
  const auto parsed = json::parse(text);
  const auto* from = parsed ? parsed->if_object() : nullptr;
  if (from == nullptr) return std::unexpected(errors::invalid("a grant in the store cannot be read"));
  Grant grant;
  grant.id = text_at(*from, "id");
  grant.owner = GrantOwner(text_at(*from, "owner"));
  grant.owner_name = text_at(*from, "owner_name");
  grant.target = GrantTarget(text_at(*from, "target"));
  grant.upstream = text_at(*from, "upstream");
  grant.resource = text_at(*from, "resource");
  grant.server = server_of(object_at(*from, "server"));
  grant.client = client_of(object_at(*from, "client"));
  grant.tokens = tokens_of(object_at(*from, "tokens"));
  grant.asked = auth::oauth::read_scopes(text_at(*from, "asked"));
  if (const auto pem = text_at(*from, "proof_key"); !pem.empty()) {
    auto key = auth::PrivateKey::read(Secret(pem));
    if (!key) return std::unexpected(std::move(key.error()));
    grant.proof_key = std::move(*key);
  }
  grant.connected_at = wall_of(number_at(*from, "connected_at").value_or(0));
  grant.refreshed_at = wall_of(number_at(*from, "refreshed_at").value_or(0));
  if (flag_at(*from, "needs_sign_in").value_or(false)) grant.state = GrantState::needs_sign_in;
  grant.trouble = text_at(*from, "trouble");
  grant.rotates = flag_at(*from, "rotates");
  grant.rotation_begun = flag_at(*from, "rotation_begun").value_or(false);
  if (grant.rotation_begun && grant.rotates.value_or(true)) {
    grant.state = GrantState::needs_sign_in;
    grant.trouble = "Proteus ended while the grant was being refreshed, and its refresh token may have been used";
  }
  if (grant.id.empty() || grant.owner.value().empty() || grant.target.value().empty())
    return std::unexpected(errors::invalid("a grant in the store is incomplete"));
  return grant;
}

std::string write_client(const auth::oauth::Client& client) { return boost::json::serialize(written(client)); }

Result<auth::oauth::Client> read_client(std::string_view text) {
  const auto parsed = json::parse(text);
  if (!parsed || !parsed->is_object()) return std::unexpected(errors::invalid("a client in the store cannot be read"));
  auto client = client_of(parsed->get_object());
  if (client.issuer.empty() || client.id.empty())
    return std::unexpected(errors::invalid("a client in the store is incomplete"));
  return client;
}

}  // namespace proteus::gateway
