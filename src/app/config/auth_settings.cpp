#include "app/config/auth_settings.hpp"

#include <fmt/format.h>

#include "base/date_time.hpp"
#include "base/settings/environment.hpp"
#include "base/settings/names.hpp"
#include "catalog/contexts/entry_patterns.hpp"
#include "gateway/callers/disclosure_choice.hpp"

namespace proteus::app {
namespace {

using json::field;
using json::text;

constexpr std::size_t kMaxTokens = 10'000;
constexpr std::int64_t kMostRequests = 1'000'000'000;

json::Codec<std::string> name() { return text({.check = check_name}); }
json::Codec<std::string> variable() { return text({.max_bytes = 256, .check = check_variable_name}); }

json::Codec<std::optional<Clock::Wall>> date_time() {
  using Value = std::optional<Clock::Wall>;
  return {.type = "date and time",
          .read =
              [](const boost::json::value& value, Value& onto, const json::Place& place) {
                const auto* string = value.if_string();
                if (string == nullptr) return json::wrong_kind(place, "a date and time", value);
                const auto read = parse_date_time(*string);
                if (read) onto = *read;
                if (!read) place.fault(read.error().message());
              },
          .write = [](const Value& time, json::Part part) -> std::optional<boost::json::value> {
            if (!time || part == json::Part::secrets) return std::nullopt;
            return boost::json::value(write_date_time(*time));
          }};
}

// Reports a fault unless exactly one of the two is set.
void check_source(const std::string& variable, const std::string& file, std::string_view what,
                  const json::Place& place) {
  if (variable.empty() == file.empty()) place.fault(fmt::format("needs either {0}_env or {0}_file", what));
}

// Accepts "*", "" and names: the scopes of contexts.
Result<> check_scope(std::string_view scope) {
  if (scope == "*" || scope.empty()) return {};
  return check_name(scope);
}
Result<> check_upstream(std::string_view scope) {
  if (scope == "*") return {};
  return check_name(scope);
}

json::Codec<std::vector<std::string>> entry_patterns() {
  return json::list(text({.max_bytes = 1024, .check = catalog::check_entry_pattern}), "patterns");
}

const json::Binding<TokenSettings>& token_binding() {
  using S = TokenSettings;
  static const json::Binding<S> binding{
      field("name", &S::name, name(), "Name of the principal that has the token.").required(),
      field("token_env", &S::token_env, variable(), "Environment variable that holds the token.").by_default("none"),
      field("token_file", &S::token_file, text(),
            "File that holds the token instead, relative to this file; read again when it changes.")
          .by_default("none"),
      field("contexts", &S::contexts, json::list(text({.check = check_scope}), "strings"),
            "Contexts it may use; `*` for all, `\"\"` for plain `/mcp`."),
      field("upstreams", &S::upstreams, json::list(text({.check = check_upstream}), "strings", {.most = 10'000}),
            "Upstreams it may use; `*` for all."),
      field("tools", &S::tools, entry_patterns(),
            "Tools it may use, by the name clients see; `*` matches any characters. `prompt:x*` matches prompts, "
            "`resource:x*` resources and templates by URI; if no pattern is about a kind, all of that kind are "
            "allowed."),
      field("deny", &S::deny, entry_patterns(), "Patterns of what it may not use, even if tools allows it."),
      field("read_only", &S::read_only, json::boolean(),
            "Whether it may use only tools that declare `readOnlyHint`. Prompts and resources are not affected."),
      field("requests_per_minute", &S::requests_per_minute, json::integer<unsigned>(0, kMostRequests),
            "Requests it may send in a minute; 0: as many as `limits.requests_per_minute` allows."),
      field("expires", &S::expires, date_time(),
            "When it stops working, such as `2027-01-01T00:00:00Z`; what is open then ends."),
      field("disclosure", &S::disclosure, gateway::disclosure_choice(),
            "What `tools/list` shows it: `all` tools it may use, or `search`: tools to search and call the others "
            "with."),
  };
  return binding;
}

const json::Binding<AdminKey>& admin_key_binding() {
  using S = AdminKey;
  static const json::Binding<S> binding{
      field("name", &S::name, name(), "Name of the key's holder, for the audit.").required(),
      field("secret_env", &S::secret_env, variable(), "Environment variable that holds the key.").by_default("none"),
      field("secret_file", &S::secret_file, text(),
            "File that holds the key instead, relative to this file; read again when it changes.")
          .by_default("none"),
      field("role", &S::role,
            json::choice<admin::Role>({{"admin", admin::Role::admin}, {"viewer", admin::Role::viewer}}),
            "What it allows: everything, or only to look (GET)."),
  };
  return binding;
}

void check_token(const TokenSettings& token, const json::Place& place) {
  check_source(token.token_env, token.token_file, "token", place);
}
void check_key(const AdminKey& key, const json::Place& place) {
  check_source(key.secret_env, key.secret_file, "secret", place);
}

}  // namespace

const json::Binding<AuthSettings>& auth_binding() {
  using S = AuthSettings;
  static const json::Binding<S> binding{
      field("anonymous", &S::anonymous,
            json::optional(json::choice<Anonymous>(
                {{"loopback", Anonymous::loopback}, {"never", Anonymous::never}, {"always", Anonymous::always}})),
            "Whether to admit callers without a token; `loopback`: only on a loopback listener.")
          .by_default("`\"loopback\"`; `\"never\"` with issuers"),
      field("tokens", &S::tokens,
            json::list(json::table<TokenSettings>(token_binding(), check_token), "tables", {.most = kMaxTokens}),
            "Tokens, and what each may use."),
      field("issuers", &S::issuers, json::list(json::table(issuer_binding()), "tables", {.least = 0, .most = 64}),
            "Identity providers whose tokens callers may use."),
      field("rules", &S::rules, json::list(json::table(gateway::rule_binding()), "tables", {.least = 0, .most = 1000}),
            "What callers with a token of an issuer may use; the first rule that fits decides."),
  };
  return binding;
}

const json::Binding<AdminSettings>& admin_binding() {
  using S = AdminSettings;
  static const json::Binding<S> binding{
      field("keys", &S::keys, json::list(json::table<AdminKey>(admin_key_binding(), check_key), "tables"),
            "Keys for the admin API, in addition to the admin secret."),
      field("environment", &S::environment, json::list(variable(), "strings", {.most = 10'000}),
            "Environment variables that the API may name for any upstream, in `token_env` and similar keys and in "
            "`pass_environment`. It may always name those of an upstream in the file, for the same origin or command."),
      field("commands", &S::commands, json::boolean(),
            "Whether the API may register programs. A program can do and read everything that the gateway's user can."),
  };
  return binding;
}

}  // namespace proteus::app
