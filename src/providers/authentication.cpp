#include "providers/authentication.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "net/http/fields.hpp"

namespace proteus::providers {
namespace {

using json::Place;
using Type = Authentication::Type;

json::TextRules variable_name() {
  return {.max_bytes = 256, .check = check_variable_name, .when_empty = json::WhenEmpty::left_out};
}

bool is_token_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

// Those that belong to HTTP or to the protocol itself.
constexpr std::array<std::string_view, 10> kReserved = {
    "Host",    "Connection", "Content-Length", "Content-Type",         "Transfer-Encoding", "Accept",
    "Upgrade", "TE",         "Trailer",        "MCP-Protocol-Version",
};

Result<> check_header_name(std::string_view name) {
  if (name.empty() || !std::ranges::all_of(name, is_token_character))
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
  }
  return "none";
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

const std::string& Authentication::variable() const {
  static const std::string none;
  switch (type) {
    case Type::none: return none;
    case Type::bearer: return token_env;
    case Type::basic: return password_env;
    case Type::header: return value_env;
  }
  return none;
}

std::string_view Authentication::variable_key() const {
  switch (type) {
    case Type::none: return "";
    case Type::bearer: return "token_env";
    case Type::basic: return "password_env";
    case Type::header: return "value_env";
  }
  return "";
}

const json::Binding<Authentication>& authentication_binding() {
  using json::field;
  using json::secret;
  using json::text;
  static const json::Binding<Authentication> binding{
      field("type", &Authentication::type,
            json::choice<Type>(
                {{"none", Type::none}, {"bearer", Type::bearer}, {"basic", Type::basic}, {"header", Type::header}}),
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
      field("token", &Authentication::token, secret("token_env"), "The token itself; only over the admin API."),
      field("password", &Authentication::password, secret("password_env"),
            "The password itself; only over the admin API."),
      field("value", &Authentication::value, secret("value_env"), "The value itself; only over the admin API."),
  };
  return binding;
}

void check_authentication(const Authentication& authentication, const Place& place) {
  const auto& given = authentication;
  const std::array<Given, 8> keys = {{
      {"token_env", Type::bearer, !given.token_env.empty()},
      {"token", Type::bearer, !given.token.empty()},
      {"username", Type::basic, !given.username.empty()},
      {"password_env", Type::basic, !given.password_env.empty()},
      {"password", Type::basic, !given.password.empty()},
      {"name", Type::header, !given.name.empty()},
      {"value_env", Type::header, !given.value_env.empty()},
      {"value", Type::header, !given.value.empty()},
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
  }
}

Result<std::optional<Credentials>> credentials(const Authentication& authentication, const Environment& environment) {
  const auto& [type, token_env, username, password_env, name, value_env, token, password, value] = authentication;
  if (type == Type::none) return std::nullopt;
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
