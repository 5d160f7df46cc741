#include "client/sign_in/sign_in.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "auth/tokens/document.hpp"
#include "auth/tokens/metadata.hpp"
#include "json/text.hpp"

namespace proteus::client {
namespace {

using auth::oauth::Registered;
using auth::oauth::TokenType;

boost::json::array texts(const std::vector<std::string>& list) { return boost::json::array(list.begin(), list.end()); }

std::int64_t seconds_of(Clock::Wall time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

void put(boost::json::object& onto, std::string_view name, std::string_view text) {
  if (!text.empty()) onto[name] = text;
}

boost::json::object server_of(const auth::ServerMetadata& server) {
  boost::json::object out = {{"issuer", server.issuer},
                             {"token_endpoint_auth_methods_supported", texts(server.token_endpoint_auth_methods)}};
  put(out, "token_endpoint", server.token_endpoint);
  put(out, "revocation_endpoint", server.revocation_endpoint);
  return out;
}

boost::json::object client_of(const auth::oauth::Client& client) {
  boost::json::object out = {{"client_id", client.id}};
  if (client.registered == Registered::dynamically) out["dynamic"] = true;
  put(out, "client_secret", client.secret.reveal());
  if (client.key) put(out, "key", client.key->pem().reveal());
  put(out, "key_id", client.key_id);
  put(out, "redirect_uri", client.redirect_uri);
  if (client.authentication) out["token_endpoint_auth_method"] = to_string(*client.authentication);
  if (client.expires) out["expires"] = seconds_of(*client.expires);
  return out;
}

// Reads members of an object. A member that is missing or has the wrong type counts as empty.
class Members {
 public:
  static Result<Members> of(const boost::json::value* value) {
    if (value == nullptr || !value->is_object())
      return std::unexpected(errors::invalid("the saved sign-in is incomplete"));
    return Members(value->get_object());
  }

  std::string text(std::string_view name) const {
    const auto* value = object_.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
  }
  std::optional<Clock::Wall> time(std::string_view name) const {
    const auto* value = object_.if_contains(name);
    constexpr std::int64_t kFarAway = 10'000'000'000;
    if (value == nullptr || !value->is_int64() || value->get_int64() < 0 || value->get_int64() > kFarAway)
      return std::nullopt;
    return Clock::Wall(std::chrono::seconds(value->get_int64()));
  }
  bool flag(std::string_view name) const {
    const auto* value = object_.if_contains(name);
    return value != nullptr && value->is_bool() && value->get_bool();
  }

 private:
  explicit Members(const boost::json::object& object) : object_(object) {}
  const boost::json::object& object_;
};

Result<auth::oauth::Client> read_client(const Members& members, const std::string& issuer) {
  auth::oauth::Client client{.issuer = issuer, .id = members.text("client_id")};
  if (members.flag("dynamic")) client.registered = Registered::dynamically;
  client.secret = Secret(members.text("client_secret"));
  client.key_id = members.text("key_id");
  client.redirect_uri = members.text("redirect_uri");
  client.authentication = auth::oauth::client_authentication_of(members.text("token_endpoint_auth_method"));
  client.expires = members.time("expires");
  if (const std::string pem = members.text("key"); !pem.empty()) {
    auto key = auth::PrivateKey::read(Secret(pem));
    if (!key) return std::unexpected(std::move(key.error()));
    client.key = std::move(*key);
  }
  return client;
}

}  // namespace

Secret write_sign_in(const SignIn& sign_in) {
  const auto& granted = sign_in.granted;
  boost::json::object tokens = {{"access_token", granted.access_token.reveal()},
                                {"token_type", granted.type == TokenType::dpop ? "DPoP" : "Bearer"},
                                {"scope", auth::oauth::write_scopes(granted.scopes)}};
  put(tokens, "refresh_token", granted.refresh_token.reveal());
  if (granted.expires) tokens["expires"] = seconds_of(*granted.expires);
  boost::json::object out = {{"resource", sign_in.at.resource},
                             {"server", server_of(sign_in.at.server)},
                             {"client", client_of(sign_in.client)},
                             {"tokens", std::move(tokens)},
                             {"asked", auth::oauth::write_scopes(sign_in.asked)}};
  if (sign_in.dpop_key) out["dpop_key"] = sign_in.dpop_key->pem().reveal();
  return Secret(boost::json::serialize(out));
}

Result<SignIn> read_sign_in(std::string_view text) {
  if (text.size() > kMaxSignIn) return std::unexpected(errors::too_large("a kept sign-in", kMaxSignIn));
  const auto document = json::parse(text, 16);
  if (!document || !document->is_object())
    return std::unexpected(errors::invalid("the saved sign-in is not a JSON object"));
  const auto& whole = document->get_object();
  SignIn read;
  const auto members = Members::of(&*document);
  read.at.resource = members->text("resource");
  read.asked = auth::oauth::read_scopes(members->text("asked"));
  const auto server = Members::of(whole.if_contains("server"));
  if (!server) return std::unexpected(server.error());
  auto metadata =
      auth::read_server_metadata(boost::json::serialize(*whole.if_contains("server")), server->text("issuer"));
  if (!metadata) return std::unexpected(std::move(metadata.error()));
  read.at.server = std::move(*metadata);
  const auto client_members = Members::of(whole.if_contains("client"));
  if (!client_members) return std::unexpected(client_members.error());
  auto client = read_client(*client_members, read.at.server.issuer);
  if (!client) return std::unexpected(std::move(client.error()));
  read.client = std::move(*client);
  const auto tokens = Members::of(whole.if_contains("tokens"));
  if (!tokens) return std::unexpected(tokens.error());
  read.granted.access_token = Secret(tokens->text("access_token"));
  read.granted.refresh_token = Secret(tokens->text("refresh_token"));
  read.granted.type = tokens->text("token_type") == "DPoP" ? TokenType::dpop : TokenType::bearer;
  read.granted.scopes = auth::oauth::read_scopes(tokens->text("scope"));
  read.granted.expires = tokens->time("expires");
  if (const std::string pem = members->text("dpop_key"); !pem.empty()) {
    auto key = auth::PrivateKey::read(Secret(pem));
    if (!key) return std::unexpected(std::move(key.error()));
    read.dpop_key = std::move(*key);
  }
  if (read.granted.type == TokenType::dpop && !read.dpop_key)
    return std::unexpected(errors::invalid("the key of the kept sign-in is missing"));
  return read;
}

}  // namespace proteus::client
