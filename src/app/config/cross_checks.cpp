#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/config/source_reader.hpp"
#include "base/settings/nearest.hpp"
#include "catalog/contexts/access.hpp"
#include "gateway/datasets/dataset_tools.hpp"

namespace proteus::app {
namespace {

using json::Place;

constexpr std::chrono::minutes kMostLeeway(10);

// Reports names that are used more than once.
class Once {
 public:
  explicit Once(std::string list) : list_(std::move(list)) {}

  void check(const std::string& name, std::size_t index, const Place& place) {
    if (name.empty()) return;
    const auto [first, is_new] = seen_.emplace(name, index);
    if (!is_new) place.fault(fmt::format("is already the name of {}[{}]", list_, first->second));
  }

 private:
  std::string list_;
  std::unordered_map<std::string, std::size_t> seen_;
};

// The variable or file that holds a secret. `place` is the place of the key; `if_unset` is the same place in the list
// that reports missing secrets.
struct SecretSource {
  const std::string& variable;
  const std::string& file;
  const Place& place;
  const Place& if_unset;
};

// Reads secrets. Two entries must not hold the same secret, because a secret identifies its holder.
class SecretValues {
 public:
  SecretValues(const CrossCheck& check, std::string list) : check_(check), list_(std::move(list)) {}

  void take(const SecretSource& source, std::size_t index, Secret& onto) {
    auto value = read(source);
    if (!value) return;
    const auto [first, is_new] = seen_.emplace(*value, index);
    if (!is_new) source.place.fault(fmt::format("holds the same secret as that of {}[{}]", list_, first->second));
    onto = Secret(std::move(*value));
  }

 private:
  std::optional<std::string> read(const SecretSource& source) const {
    if (!source.variable.empty()) {
      auto value = check_.environment(source.variable);
      if (value && !value->empty()) return value;
      source.if_unset.fault(unset(source.variable));
      return std::nullopt;
    }
    if (source.file.empty() || !check_.read_secret) return std::nullopt;
    auto value = check_.read_secret(source.file);
    if (value) return std::move(*value);
    source.if_unset.fault(fmt::format("the file {} {}", source.file, value.error().message()));
    return std::nullopt;
  }

  const CrossCheck& check_;
  std::string list_;
  std::unordered_map<std::string, std::size_t> seen_;
};

void check_principals(Config& config, CrossCheck& check) {
  json::Faults& unset_ones = check.purpose == Purpose::serve ? check.faults : check.warnings;
  const auto each = [&](const char* section, const char* list, auto& items, auto name, const std::string& what,
                        auto variable, auto file, auto secret) {
    const Place root(check.faults);
    const Place root_if_unset(unset_ones);
    const Place in_section = root.member(section);
    const Place in_list = in_section.member(list);
    const Place unset_section = root_if_unset.member(section);
    const Place unset_list = unset_section.member(list);
    const std::string shown = fmt::format("{}.{}", section, list);
    Once names(shown);
    SecretValues values(check, shown);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Place at = in_list.item(i);
      const Place at_if_unset = unset_list.item(i);
      names.check(items[i].*name, i, at.member("name"));
      const std::string key = what + ((items[i].*file).empty() ? "_env" : "_file");
      const Place place = at.member(key);
      const Place if_unset = at_if_unset.member(key);
      values.take({items[i].*variable, items[i].*file, place, if_unset}, i, items[i].*secret);
    }
  };
  each("auth", "tokens", config.auth.tokens, &TokenSettings::name, "token", &TokenSettings::token_env,
       &TokenSettings::token_file, &TokenSettings::token);
  each("admin", "keys", config.admin.keys, &AdminKey::name, "secret", &AdminKey::secret_env, &AdminKey::secret_file,
       &AdminKey::secret);
}

// Warns of tokens that have expired. That may be intended, so it is not a fault.
void check_expiries(const Config& config, CrossCheck& check) {
  const Place root(check.warnings);
  const Place auth = root.member("auth");
  const Place list = auth.member("tokens");
  const auto& tokens = config.auth.tokens;
  for (std::size_t i = 0; check.now && i < tokens.size(); ++i) {
    const Place at = list.item(i);
    if (tokens[i].expires && *tokens[i].expires <= *check.now)
      at.member("expires").fault("is in the past: the token is refused");
  }
}

void check_upstreams(const Config& config, CrossCheck& check) {
  const Place root(check.faults);
  const Place list = root.member("upstreams");
  const Place warning_root(check.warnings);
  const Place warning_list = warning_root.member("upstreams");
  Once names("upstreams");
  std::unordered_map<std::string, std::size_t> prefixes;
  for (std::size_t i = 0; i < config.upstreams.size(); ++i) {
    const auto& settings = config.upstreams[i].settings;
    const Place at = list.item(i);
    const Place warning_at = warning_list.item(i);
    names.check(settings.name, i, at.member("name"));
    const auto [first, is_new] = prefixes.emplace(settings.effective_prefix(), i);
    if (!is_new && settings.name != config.upstreams[first->second].settings.name) {
      warning_at.fault(
          fmt::format("has the same prefix as upstreams[{}], which wins every name that both have", first->second));
    }
    // A caller's token may be sent only to its own issuer.
    const auto& oauth = settings.authentication.oauth;
    const bool is_known =
        std::ranges::any_of(config.auth.issuers, [&](const auto& issuer) { return issuer.issuer == oauth.issuer; });
    if (settings.authentication.is_oauth() && oauth.grant == providers::OAuthGrant::token_exchange && !is_known) {
      const Place authentication = at.member("authentication");
      authentication.member("issuer").fault("must be one of [[auth.issuers]], whose tokens callers bring");
    }
    const std::string& variable = settings.authentication.variable();
    if (variable.empty()) continue;
    // Without the variable only this upstream fails, which must not stop the others.
    const auto value = check.environment(variable);
    if (!value || value->empty()) warning_at.member("authentication").fault(unset(variable));
  }
}

// An upstream that receives a secret of Proteus could use it to impersonate the gateway.
void check_own_secrets(const Config& config, CrossCheck& check) {
  const auto variables = config.own_secret_variables();
  const std::set<std::string_view> own(variables.begin(), variables.end());
  std::set<std::string_view> client_secrets;
  std::set<std::pair<std::string_view, std::string_view>> at_issuers;  // the same variables, each with its issuer
  for (const IssuerSettings& issuer : config.auth.issuers) {
    for (const ClientSettings* client : {&issuer.introspection, &issuer.sign_in}) {
      client_secrets.insert(client->client_secret_env);
      at_issuers.emplace(client->client_secret_env, issuer.issuer);
    }
  }
  const auto check_one = [&](const std::string& variable, const Place& at) {
    if (variable.empty() || (!own.contains(variable) && !client_secrets.contains(variable))) return;
    at.fault(fmt::format("{} is a secret of Proteus itself, and no upstream's", variable));
  };
  const auto check_authentication = [&](const providers::Authentication& authentication, const Place& at) {
    // As an OAuth client, Proteus may use the same secret for an upstream: it goes to the same issuer.
    if (authentication.is_oauth() && at_issuers.contains({authentication.variable(), authentication.oauth.issuer}))
      return;
    const Place table = at.member("authentication");
    check_one(authentication.variable(), table.member(authentication.variable_key()));
  };
  const auto check_passed = [&](const providers::UpstreamSettings& settings, const Place& at) {
    const Place passed = at.member("pass_environment");
    for (std::size_t i = 0; i < settings.pass_environment.size(); ++i)
      check_one(settings.pass_environment[i], passed.item(i));
  };
  const Place root(check.faults);
  const Place defaults = root.member("defaults");
  const Place default_upstream = defaults.member("upstream");
  check_authentication(config.upstream_defaults.authentication, default_upstream);
  check_passed(config.upstream_defaults, default_upstream);
  const Place datasets = root.member("datasets");
  const Place sources = datasets.member("environment");
  for (std::size_t i = 0; i < config.datasets.environment.size(); ++i)
    check_one(config.datasets.environment[i], sources.item(i));
  const Place list = root.member("upstreams");
  for (std::size_t i = 0; i < config.upstreams.size(); ++i) {
    const auto& [settings, given] = config.upstreams[i];
    const Place at = list.item(i);
    // Inherited values were checked with the defaults.
    if (given.contains("authentication")) check_authentication(settings.authentication, at);
    if (given.contains("pass_environment")) check_passed(settings, at);
  }
  const Place admin = root.member("admin");
  const Place environment = admin.member("environment");
  for (std::size_t i = 0; i < config.admin.environment.size(); ++i)
    check_one(config.admin.environment[i], environment.item(i));
}

void check_server(const Config& config, CrossCheck& check) {
  const Place root(check.faults);
  const Place server = root.member("server");
  const ListenAddress& listen = config.server.listen;
  const auto& ops = config.server.ops_listen;
  if (ops && *ops == listen && listen.port != 0) server.member("ops_listen").fault("is the same address as listen");
  if (config.auth.admitted_anonymous() == Anonymous::always && !listen.is_loopback()) {
    const Place warning_root(check.warnings);
    const Place auth = warning_root.member("auth");
    auth.member("anonymous").fault("serves everybody who can reach " + listen.text());
  }
  if (check.check_tls && config.server.tls.enabled()) {
    if (const auto fit = check.check_tls(config.server.tls); !fit) server.member("tls").fault(fit.error().message());
  }
}

// Reads the client secrets with which Proteus authenticates to issuers.
void take_issuer_secrets(Config& config, CrossCheck& check) {
  const Place root(check.purpose == Purpose::serve ? check.faults : check.warnings);
  const Place auth = root.member("auth");
  const Place list = auth.member("issuers");
  for (std::size_t i = 0; i < config.auth.issuers.size(); ++i) {
    const Place at = list.item(i);
    const auto take = [&](ClientSettings& client, const char* key) {
      if (client.client_secret_env.empty()) return;
      auto value = check.environment(client.client_secret_env);
      const Place in = at.member(key);
      if (!value || value->empty()) return in.member("client_secret_env").fault(unset(client.client_secret_env));
      client.client_secret = Secret(std::move(*value));
    };
    take(config.auth.issuers[i].introspection, "introspection");
    take(config.auth.issuers[i].sign_in, "sign_in");
  }
}

// A missing token is only a warning, because search works without embeddings.
void take_embedding_token(Config& config, CrossCheck& check) {
  EmbeddingSettings& embeddings = config.search.embeddings;
  if (embeddings.token_env.empty()) return;
  if (auto value = check.environment(embeddings.token_env); value && !value->empty()) {
    embeddings.token = Secret(std::move(*value));
    return;
  }
  const Place root(check.warnings);
  const Place search = root.member("search");
  const Place at = search.member("embeddings");
  at.member("token_env").fault(unset(embeddings.token_env));
}

void check_issuers(const Config& config, CrossCheck& check) {
  const Place root(check.faults);
  const Place auth = root.member("auth");
  const Place list = auth.member("issuers");
  const auto& issuers = config.auth.issuers;
  Once names("auth.issuers");
  std::optional<std::size_t> introspecting;
  for (std::size_t i = 0; i < issuers.size(); ++i) {
    const Place at = list.item(i);
    names.check(issuers[i].issuer, i, at.member("issuer"));
    // A token stays valid for this long after its end.
    if (issuers[i].leeway > kMostLeeway) at.member("leeway").fault("must be at most 10m");
    if (issuers[i].introspection.client_id.empty()) continue;
    if (introspecting) {
      at.member("introspection")
          .fault(fmt::format("only one issuer can introspect opaque tokens, and auth.issuers[{}] already does",
                             *introspecting));
    }
    introspecting = i;
  }
  if (!issuers.empty() && config.server.public_url.empty() && !config.server.listen.is_loopback()) {
    const Place server = root.member("server");
    server.member("public_url").fault("is missing: with auth.issuers tokens are for the URL that clients use");
  }
}

// The first rule that fits decides, so a rule that fits everybody hides all later rules.
void check_rules(const Config& config, CrossCheck& check) {
  const Place root(check.warnings);
  const Place auth = root.member("auth");
  const Place list = auth.member("rules");
  const auto& rules = config.auth.rules;
  if (!config.auth.issuers.empty() && rules.empty()) list.fault("is empty: no caller of an issuer is admitted");
  if (config.auth.issuers.empty() && !rules.empty())
    list.fault("there are no auth.issuers whose callers these are for");
  std::vector<std::string_view> issuers;
  issuers.reserve(config.auth.issuers.size());
  for (const auto& issuer : config.auth.issuers)
    issuers.push_back(issuer.issuer);
  std::optional<std::size_t> for_everybody;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Place at = list.item(i);
    if (for_everybody) at.fault(fmt::format("never fits: auth.rules[{}] fits everybody", *for_everybody));
    if (!for_everybody && rules[i].match.empty()) for_everybody = i;
    for (std::size_t j = 0; j < i && !for_everybody; ++j) {
      if (rules[j].match == rules[i].match)
        at.fault(fmt::format("never fits: auth.rules[{}] fits the same callers", j));
    }
    const auto wanted = rules[i].match.find("issuer");
    if (wanted == rules[i].match.end()) continue;
    for (const auto& pattern : wanted->second) {
      const bool fits_one =
          std::ranges::any_of(issuers, [&](std::string_view one) { return catalog::fits(pattern, one); });
      const Place match = at.member("match");
      if (!fits_one) match.member("issuer").fault("fits none of auth.issuers");
    }
  }
}

// A token may name an upstream that is registered later. Contexts come only from the configuration.
void check_scopes(const Config& config, CrossCheck& check) {
  std::vector<std::string_view> contexts;
  contexts.reserve(config.contexts.size());
  for (const auto& [name, settings] : config.contexts)
    contexts.push_back(name);
  contexts.insert(contexts.end(), config.broken.contexts.begin(), config.broken.contexts.end());
  std::vector<std::string_view> upstreams = {gateway::DatasetTools::kName};
  for (const auto& entry : config.upstreams)
    upstreams.push_back(entry.settings.name);
  const std::set<std::string_view> known_contexts(contexts.begin(), contexts.end());
  const std::set<std::string_view> known_upstreams(upstreams.begin(), upstreams.end());

  const Place fault_root(check.faults);
  const Place fault_auth = fault_root.member("auth");
  const Place fault_tokens = fault_auth.member("tokens");
  const Place warning_root(check.warnings);
  const Place warning_auth = warning_root.member("auth");
  const Place warning_tokens = warning_auth.member("tokens");
  for (std::size_t i = 0; i < config.auth.tokens.size(); ++i) {
    const TokenSettings& token = config.auth.tokens[i];
    const Place fault_at = fault_tokens.item(i);
    const Place in_contexts = fault_at.member("contexts");
    for (std::size_t j = 0; j < token.contexts.size(); ++j) {
      const std::string& name = token.contexts[j];
      if (name.empty() || name == "*" || known_contexts.contains(name)) continue;
      in_contexts.item(j).fault(fmt::format("there is no context {}{}", name, did_you_mean(name, contexts)));
    }
    const Place warning_at = warning_tokens.item(i);
    const Place in_upstreams = warning_at.member("upstreams");
    for (std::size_t j = 0; j < token.upstreams.size(); ++j) {
      const std::string& name = token.upstreams[j];
      if (name == "*" || known_upstreams.contains(name)) continue;
      in_upstreams.item(j).fault(fmt::format("there is no upstream {}; it must be registered at runtime{}", name,
                                             did_you_mean(name, upstreams)));
    }
  }
}

}  // namespace

std::string unset(const std::string& variable) {
  return fmt::format("the environment variable {} is not set", variable);
}

void CrossCheck::run(Config& config) {
  check_server(config, *this);
  check_principals(config, *this);
  check_expiries(config, *this);
  take_issuer_secrets(config, *this);
  take_embedding_token(config, *this);
  check_cluster(config, *this);
  check_issuers(config, *this);
  check_rules(config, *this);
  check_upstreams(config, *this);
  check_own_secrets(config, *this);
  check_scopes(config, *this);
}

}  // namespace proteus::app
