#include "providers/authentication.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text/base64.hpp"
#include "net/http/fields.hpp"
#include "net/http/token.hpp"
#include "net/http/url.hpp"
#include "net/http_client/proxy.hpp"

namespace proteus::providers {
namespace {

using json::Place;
using Type = Authentication::Type;

json::TextRules variable_name() {
  return {.max_bytes = 256, .check = check_variable_name, .when_empty = json::WhenEmpty::left_out};
}

// Headers that belong to HTTP or to MCP itself.
constexpr std::array<std::string_view, 10> kReserved = {
    "Host",    "Connection", "Content-Length", "Content-Type",         "Transfer-Encoding", "Accept",
    "Upgrade", "TE",         "Trailer",        "MCP-Protocol-Version",
};

Result<> check_header_name(std::string_view name) {
  if (!net::is_token(name))
    return std::unexpected(errors::invalid("must be the name of a header, such as \"X-Api-Key\""));
  const bool reserved = std::ranges::any_of(kReserved, [&](auto taken) { return net::same_field_name(taken, name); }) ||
                        (name.size() >= 4 && net::same_field_name(name.substr(0, 4), "Mcp-"));
  if (reserved) return std::unexpected(errors::invalid("names a header that the protocol itself uses"));
  return {};
}

Result<> check_user_name(std::string_view name) {
  const bool fits = !name.empty() && std::ranges::none_of(name, [](char c) {
    return c == ':' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (!fits) return std::unexpected(errors::invalid("must not be empty or hold a colon or a control character"));
  return {};
}

std::string_view word_for(Type type) {
  switch (type) {
    case Type::none: return "none";
    case Type::bearer: return "bearer";
    case Type::basic: return "basic";
    case Type::header: return "header";
    case Type::oauth: return "oauth";
  }
  return "none";
}

Result<> check_client_id(std::string_view id) {
  if (!std::ranges::all_of(id, [](char c) { return c >= 0x20 && c < 0x7f; }))
    return std::unexpected(errors::invalid("must be printable"));
  return {};
}

Result<> check_issuer(std::string_view issuer) {
  const auto url = net::Url::parse(issuer);
  if (!url) return std::unexpected(url.error());
  if (!url->is_https() && !net::is_loopback_host(url->host()))
    return std::unexpected(errors::invalid("must be https, unless it is on this machine"));
  return {};
}

json::Codec<OAuthGrant> grants() {
  std::vector<std::pair<std::string, OAuthGrant>> words;
  for (const auto grant : {OAuthGrant::authorization_code, OAuthGrant::client_credentials, OAuthGrant::token_exchange,
                           OAuthGrant::identity_assertion, OAuthGrant::jwt_bearer})
    words.emplace_back(to_string(grant), grant);
  return json::choice<OAuthGrant>(std::move(words));
}

// Makes a field for a key of the type "oauth"; other types do not show it.
template <class T>
json::Field<Authentication> within(std::string key, T OAuthSettings::* member, json::Codec<T> codec,
                                   std::string meaning) {
  json::Field<Authentication> made;
  made.info = {.name = std::move(key),
               .type = std::move(codec.type),
               .default_text = {},
               .meaning = std::move(meaning),
               .keys = {}};
  made.read = [member, read = std::move(codec.read)](const boost::json::value& value, Authentication& onto,
                                                     const Place& place) { read(value, onto.oauth.*member, place); };
  made.write = [member, write = std::move(codec.write)](const Authentication& from,
                                                        json::Part part) -> std::optional<boost::json::value> {
    if (!from.is_oauth()) return std::nullopt;
    return write(from.oauth.*member, part);
  };
  return made;
}

void check_oauth(const OAuthSettings& oauth, const Place& place) {
  using enum OAuthGrant;
  if (!oauth.client_secret_env.empty() && !oauth.client_secret.empty())
    place.member("client_secret").fault("is given twice, here and by client_secret_env");
  if (!oauth.client_key_file.empty() && !oauth.client_key.empty())
    place.member("client_key").fault("is given twice, here and by client_key_file");
  if (oauth.has_secret() && oauth.has_key()) place.fault("a client has a secret or a key, not both");
  if ((oauth.has_secret() || oauth.has_key()) && oauth.issuer.empty())
    place.fault("issuer is missing: a secret or a key belongs to one authorization server");
  const bool needs_client = oauth.grant == client_credentials || oauth.grant == token_exchange;
  const bool signs_as_client = oauth.has_key() && oauth.grant != jwt_bearer;
  if (oauth.client_id.empty() && (oauth.has_secret() || needs_client || signs_as_client))
    place.fault("client_id is missing");
  if (oauth.grant == client_credentials && !oauth.has_secret() && !oauth.has_key())
    place.fault("client_secret_env or client_key_file is missing");
  if (oauth.grant == jwt_bearer && !oauth.has_key()) place.fault("client_key_file is missing");
  if (needs_client && oauth.issuer.empty() && !oauth.has_secret() && !oauth.has_key()) place.fault("issuer is missing");
  const bool is_callers = oauth.effective_subject() == OAuthSubject::caller;
  if (is_callers && (oauth.grant == client_credentials || oauth.grant == jwt_bearer))
    place.member("subject").fault(
        fmt::format("must be \"gateway\" for {}, which names no user", to_string(oauth.grant)));
  if (!is_callers && (oauth.grant == token_exchange || oauth.grant == identity_assertion))
    place.member("subject").fault(fmt::format("must be \"caller\" for {}", to_string(oauth.grant)));
}

struct Given {
  std::string_view key;
  Type owner;
  bool given;
};

void check_secret(const Place& place, std::string_view key, const std::string& variable, const Secret& literal) {
  if (variable.empty() && literal.empty()) {
    place.fault(place.secrets() == json::Secrets::accepted ? fmt::format("{}_env or {} is missing", key, key)
                                                           : fmt::format("{}_env is missing", key));
  }
  if (!variable.empty() && !literal.empty())
    place.member(key).fault(fmt::format("is given twice, here and by {}_env", key));
}

Result<Secret> secret_of(const std::string& variable, const Secret& literal, const Environment& environment) {
  if (variable.empty()) return literal;
  auto value = environment(variable);
  if (!value || value->empty()) {
    return std::unexpected(errors::unauthenticated(fmt::format("the environment variable {} is not set", variable)));
  }
  return Secret(std::move(*value));
}

}  // namespace

Result<Secret> client_secret(const OAuthSettings& settings, const Environment& environment) {
  return secret_of(settings.client_secret_env, settings.client_secret, environment);
}

const std::string& Authentication::variable() const {
  static const std::string none;
  switch (type) {
    case Type::none: return none;
    case Type::bearer: return token_env;
    case Type::basic: return password_env;
    case Type::header: return value_env;
    case Type::oauth: return oauth.client_secret_env;
  }
  return none;
}

std::string_view Authentication::variable_key() const {
  switch (type) {
    case Type::none: return "";
    case Type::bearer: return "token_env";
    case Type::basic: return "password_env";
    case Type::header: return "value_env";
    case Type::oauth: return "client_secret_env";
  }
  return "";
}

const json::Binding<Authentication>& authentication_binding() {
  using json::field;
  using json::secret;
  using json::text;
  static const json::Binding<Authentication> binding{
      field("type", &Authentication::type,
            json::choice<Type>({{"none", Type::none},
                                {"bearer", Type::bearer},
                                {"basic", Type::basic},
                                {"header", Type::header},
                                {"oauth", Type::oauth}}),
            "Kind of credentials that Proteus sends."),
      field("token_env", &Authentication::token_env, text(variable_name()),
            "For `bearer`: environment variable that holds the token."),
      field("username", &Authentication::username,
            text({.max_bytes = 256, .check = check_user_name, .when_empty = json::WhenEmpty::left_out}),
            "For `basic`: user name."),
      field("password_env", &Authentication::password_env, text(variable_name()),
            "For `basic`: environment variable that holds the password."),
      field("name", &Authentication::name,
            text({.max_bytes = 128, .check = check_header_name, .when_empty = json::WhenEmpty::left_out}),
            "For `header`: name of the header."),
      field("value_env", &Authentication::value_env, text(variable_name()),
            "For `header`: environment variable that holds its value."),
      within("grant", &OAuthSettings::grant, grants(), "For `oauth`: how Proteus gets a token.")
          .by_default("\"authorization_code\""),
      within("subject", &OAuthSettings::subject,
             json::optional(
                 json::choice<OAuthSubject>({{"caller", OAuthSubject::caller}, {"gateway", OAuthSubject::gateway}})),
             "For `oauth`: whether requests carry each caller's own token, or a token of the gateway.")
          .by_default("\"gateway\" for `client_credentials` and `jwt_bearer`, else \"caller\""),
      within("scopes", &OAuthSettings::scopes,
             json::list(text({.max_bytes = 256, .check = check_scope}), "strings", {.most = 64}),
             "For `oauth`: scopes to ask for; if empty, the ones that the upstream names.")
          .by_default("[]"),
      within("issuer", &OAuthSettings::issuer,
             text({.max_bytes = 2048, .check = check_issuer, .when_empty = json::WhenEmpty::left_out}),
             "For `oauth`: the only authorization server to use; required with a secret or a key. For `token_exchange` "
             "the issuer of the callers' tokens.")
          .by_default("what the upstream names"),
      within("client_id", &OAuthSettings::client_id,
             text({.max_bytes = 2048, .check = check_client_id, .when_empty = json::WhenEmpty::left_out}),
             "For `oauth`: the client that is registered there.")
          .by_default("discovered or registered automatically"),
      within("client_secret_env", &OAuthSettings::client_secret_env, text(variable_name()),
             "For `oauth`: environment variable that holds the client's secret.")
          .by_default("none"),
      within("client_key_file", &OAuthSettings::client_key_file,
             text({.max_bytes = 4096, .when_empty = json::WhenEmpty::left_out}),
             "For `oauth`: file with the client's private key (PEM), which signs assertions. For `jwt_bearer` also a "
             "file that holds the assertion itself, such as a workload's token.")
          .by_default("none"),
      within("client_secret", &OAuthSettings::client_secret, secret("client_secret_env"),
             "The client's secret itself; only over the admin API."),
      within("client_key", &OAuthSettings::client_key, secret("client_key_file"),
             "The client's key itself (PEM); only over the admin API."),
      field("token", &Authentication::token, secret("token_env"), "The token itself; only over the admin API."),
      field("password", &Authentication::password, secret("password_env"),
            "The password itself; only over the admin API."),
      field("value", &Authentication::value, secret("value_env"), "The value itself; only over the admin API."),
  };
  return binding;
}

void check_authentication(const Authentication& authentication, const Place& place) {
  const auto& given = authentication;
  const auto& oauth = given.oauth;
  const std::array<Given, 17> keys = {{
      {"token_env", Type::bearer, !given.token_env.empty()},
      {"token", Type::bearer, !given.token.empty()},
      {"username", Type::basic, !given.username.empty()},
      {"password_env", Type::basic, !given.password_env.empty()},
      {"password", Type::basic, !given.password.empty()},
      {"name", Type::header, !given.name.empty()},
      {"value_env", Type::header, !given.value_env.empty()},
      {"value", Type::header, !given.value.empty()},
      {"grant", Type::oauth, oauth.grant != OAuthGrant::authorization_code},
      {"subject", Type::oauth, oauth.subject.has_value()},
      {"scopes", Type::oauth, !oauth.scopes.empty()},
      {"issuer", Type::oauth, !oauth.issuer.empty()},
      {"client_id", Type::oauth, !oauth.client_id.empty()},
      {"client_secret_env", Type::oauth, !oauth.client_secret_env.empty()},
      {"client_key_file", Type::oauth, !oauth.client_key_file.empty()},
      {"client_secret", Type::oauth, !oauth.client_secret.empty()},
      {"client_key", Type::oauth, !oauth.client_key.empty()},
  }};
  for (const Given& key : keys) {
    if (key.given && key.owner != given.type)
      place.member(key.key).fault(
          fmt::format("belongs to type \"{}\", and the type is \"{}\"", word_for(key.owner), word_for(given.type)));
  }
  switch (given.type) {
    case Type::none: return;
    case Type::bearer: return check_secret(place, "token", given.token_env, given.token);
    case Type::basic:
      if (given.username.empty()) place.fault("username is missing");
      return check_secret(place, "password", given.password_env, given.password);
    case Type::header:
      if (given.name.empty()) place.fault("name is missing");
      return check_secret(place, "value", given.value_env, given.value);
    case Type::oauth: return check_oauth(given.oauth, place);
  }
}

Result<std::optional<Credentials>> credentials(const Authentication& authentication, const Environment& environment) {
  const auto& [type, token_env, username, password_env, name, value_env, oauth, token, password, value] =
      authentication;
  if (type == Type::none) return std::nullopt;
  if (type == Type::oauth) {
    // The secret is needed later, but its absence is reported now.
    if (oauth.client_secret_env.empty()) return std::nullopt;
    if (auto found = client_secret(oauth, environment); !found) return std::unexpected(std::move(found.error()));
    return std::nullopt;
  }
  const auto secret = type == Type::bearer  ? secret_of(token_env, token, environment)
                      : type == Type::basic ? secret_of(password_env, password, environment)
                                            : secret_of(value_env, value, environment);
  if (!secret) return std::unexpected(secret.error());
  if (type == Type::basic)
    return Credentials{"Authorization", Secret("Basic " + base64_encode(username + ":" + secret->reveal()))};
  if (std::ranges::any_of(secret->reveal(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    const std::string& variable = authentication.variable();
    return std::unexpected(errors::invalid(
        fmt::format("{} holds a control character, which no header can",
                    variable.empty() ? "the secret" : fmt::format("the environment variable {}", variable))));
  }
  if (type == Type::bearer) return Credentials{"Authorization", Secret("Bearer " + secret->reveal())};
  return Credentials{name, *secret};
}

}  // namespace proteus::providers
