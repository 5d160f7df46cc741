#include "gateway/identity/identities.hpp"

#include <algorithm>

#include <boost/algorithm/string/split.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "auth/tokens/challenge.hpp"
#include "auth/tokens/jwt.hpp"
#include "auth/tokens/resource_metadata.hpp"
#include "base/log/log.hpp"
#include "gateway/callers/credentials.hpp"
#include "json/text.hpp"
#include "mcp/insufficient_scope.hpp"
#include "net/http_server/refused_request.hpp"
#include "server/http/challenge.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kUnknown = "The bearer token is unknown";
constexpr std::string_view kMissing = "A bearer token is required";

// Includes the issuer, because two issuers may have the same subject. Does not collide with tokens of the
// configuration, whose names have no line feed.
std::string key_of(const auth::Identity& identity) { return identity.issuer() + "\n" + identity.subject(); }

std::vector<std::string> all_scopes(const std::vector<auth::IssuerSettings>& issuers) {
  std::vector<std::string> all;
  for (const auto& issuer : issuers) {
    for (const auto& scope : issuer.scopes) {
      if (std::ranges::find(all, scope) == all.end()) all.push_back(scope);
    }
  }
  return all;
}

std::vector<auth::Algorithm> proof_algorithms(const std::vector<auth::IssuerSettings>& issuers) {
  const bool taken = std::ranges::any_of(issuers, [](const auto& issuer) { return issuer.dpop != auth::Dpop::off; });
  return taken ? std::vector<auth::Algorithm>(auth::kAlgorithms.begin(), auth::kAlgorithms.end())
               : std::vector<auth::Algorithm>();
}

std::shared_ptr<const Permissions> permissions_of(const Rule& rule) {
  return std::make_shared<const Permissions>(
      catalog::Access::only(rule.upstreams, {.allow = rule.tools, .deny = rule.deny, .read_only = rule.read_only}),
      rule.contexts, rule.requests_per_minute, rule.disclosure);
}

unsigned status_of(auth::Refusal::Kind kind) { return kind == auth::Refusal::Kind::unavailable ? 503 : 401; }

}  // namespace

auth::TokenUse use_of(const Credentials& given, const net::Request& request, std::string_view url,
                      std::span<const std::string> audiences) {
  // A request with two proofs counts as one without.
  const bool has_proof = request.fields().count("DPoP") == 1;
  return {.scheme = given.scheme == Credentials::Scheme::dpop ? auth::Scheme::dpop : auth::Scheme::bearer,
          .token = given.token,
          .proof = has_proof ? *request.fields().find("DPoP") : std::string_view(),
          .method = request.method(),
          .url = url,
          .audiences = audiences};
}

Identities::Identities(const Executor& home, net::HttpClient& http, const Clock& clock, RefusalLog& refusals)
    : clock_(clock), refusals_(refusals), verifier_(home, http, clock, {}), settings_(first_settings()) {}

std::shared_ptr<const Identities::Settings> Identities::first_settings() const {
  auto first = std::make_shared<Settings>();
  first->known = verifier_.issuers();
  return first;
}

void Identities::set(IdentitySettings settings) {
  const auto before = settings_.get();
  if (*before == settings) return;
  auto next = std::make_shared<Settings>();
  static_cast<IdentitySettings&>(*next) = std::move(settings);
  next->generation = before->generation + 1;
  next->resources = before->resources;
  next->scopes = all_scopes(next->issuers);
  next->dpop_algorithms = proof_algorithms(next->issuers);
  for (const Rule& rule : next->rules)
    next->permissions.push_back(permissions_of(rule));
  for (const Rule& rule : next->rules)
    next->rules_text += boost::json::serialize(rule_binding().write(rule));
  for (const auto& issuer : next->issuers)
    next->implied.emplace_back(issuer.implies.begin(), issuer.implies.end());
  if (next->issuers != before->issuers) {
    verifier_.set_issuers(next->issuers);
    verifier_.fetch_ahead();
  }
  next->known = verifier_.issuers();
  settings_.set(std::move(next));
  // Requests that were admitted before and begin something later must not keep their rights.
  before->basis->withdraw();
}

void Identities::set_public_url(const net::Url& url) {
  auto next = std::make_shared<Settings>(*settings_.get());
  next->resources = Resources(url);
  settings_.set(std::move(next));
}

bool Identities::keeps(const Principal& principal) const { return principal.rules() == settings_.get()->generation; }

Identities::Found Identities::make_principal(const Settings& settings, const auth::Identity& identity,
                                             const net::Request& request) const {
  const Rule* const rule = first_that_fits(settings.rules, identity.claims);
  if (rule == nullptr) return std::unexpected(no_rule(request, identity));
  const auto issuer = std::ranges::find(settings.issuers, identity.issuer(), &auth::IssuerSettings::issuer);
  const auto& implied = settings.implied[static_cast<std::size_t>(issuer - settings.issuers.begin())];
  return std::make_shared<const Principal>(
      Principal::Parts{.name = name_of(*rule, identity.claims),
                       .permissions = settings.permissions[static_cast<std::size_t>(rule - settings.rules.data())],
                       .key = key_of(identity),
                       .scopes = std::make_shared<const catalog::GrantedScopes>(identity.claims.scopes(), implied),
                       .expires = identity.expires,
                       .rules = settings.generation},
      settings.basis.get());
}

server::Refusal Identities::refuse(const Settings& settings, const net::Request& request, const std::string& resource,
                                   const auth::Refusal& refusal) const {
  refusals_.add(net::refused(request, RefusalReason::token, refusal.reason));
  if (refusal.kind == auth::Refusal::Kind::unavailable) {
    return {status_of(refusal.kind),
            errors::unavailable(std::string(refusal.text)).with_retry_after(refusal.retry_after),
            {}};
  }
  const std::string metadata = settings.resources.metadata_url(resource);
  return {status_of(refusal.kind), errors::unauthenticated(std::string(refusal.text)),
          auth::write_challenge({.error = refusal.error_code(),
                                 .description = refusal.text,
                                 .scopes = settings.scopes,
                                 .resource_metadata = metadata,
                                 .dpop_algorithms = settings.dpop_algorithms})};
}

server::Refusal Identities::unknown(const Settings& settings, const net::Request& request,
                                    const std::string& resource) const {
  const bool is_missing = credentials_of(request).scheme == Credentials::Scheme::none;
  const std::string_view why = is_missing ? kMissing : kUnknown;
  refusals_.add(net::refused(request, RefusalReason::token, why));
  const std::string metadata = settings.resources.metadata_url(resource);
  return {401, errors::unauthenticated(std::string(why)),
          auth::write_challenge({.error = is_missing ? "" : "invalid_token",
                                 .description = is_missing ? "" : why,
                                 .scopes = settings.scopes,
                                 .resource_metadata = metadata,
                                 .dpop_algorithms = settings.dpop_algorithms})};
}

// Does not reveal the rules to callers.
server::Refusal Identities::no_rule(const net::Request& request, const auth::Identity& identity) const {
  refusals_.add(net::refused(request, RefusalReason::rule, "no rule of [[auth.rules]] fits the token's claims",
                             identity.subject()));
  return {403, errors::forbidden("This account may not use this server"), {}};
}

void Identities::look_at(const catalog::SnapshotPointer& snapshot) const {
  for (const auto& permissions : settings_.get()->permissions) {
    if (const auto& entries = permissions->access().entries()) entries->look_at(snapshot);
  }
}

std::string Identities::challenge(std::string_view context, const Error& error) const {
  const auto settings = settings_.get();
  if (settings->issuers.empty() || !mcp::lacks_scope(error)) return server::bearer_challenge(error);
  std::vector<std::string> scopes;
  boost::split(scopes, mcp::scopes_to_request(error), [](char c) { return c == ' '; });
  const std::string metadata = settings->resources.metadata_url(settings->resources.endpoint(context));
  return auth::write_challenge({.error = "insufficient_scope", .scopes = scopes, .resource_metadata = metadata});
}

std::optional<std::string> Identities::metadata_at(std::string_view path) const {
  const auto settings = settings_.get();
  if (settings->issuers.empty()) return std::nullopt;
  auto resource = settings->resources.resource_at(path);
  if (!resource) return std::nullopt;
  auth::ResourceMetadata metadata;
  metadata.resource = std::move(*resource);
  metadata.scopes = settings->scopes;
  metadata.name = "Proteus";
  for (const auto& issuer : settings->issuers)
    metadata.authorization_servers.push_back(issuer.issuer);
  for (const auth::Algorithm algorithm : settings->dpop_algorithms)
    metadata.dpop_algorithms.emplace_back(to_string(algorithm));
  metadata.requires_dpop =
      std::ranges::all_of(settings->issuers, [](const auto& issuer) { return issuer.dpop == auth::Dpop::require; });
  return write_resource_metadata(metadata);
}

namespace {

Result<auth::Claims> read_claims(std::string_view text) {
  auto parsed = json::parse(text, auth::Jwt::kMaxDepth);
  if (!parsed) return std::unexpected(parsed.error());
  if (!parsed->is_object()) return std::unexpected(errors::invalid("the claims must be a JSON object"));
  return auth::Claims::read(std::move(parsed->as_object()));
}

}  // namespace

Result<std::shared_ptr<const Principal>> Identities::imagine(std::string_view text) const {
  const auto claims = read_claims(text);
  if (!claims) return std::unexpected(claims.error());
  const auto settings = settings_.get();
  const Rule* const rule = first_that_fits(settings->rules, *claims);
  if (rule == nullptr) return std::unexpected(errors::not_found("no rule of [[auth.rules]] fits these claims"));
  return std::make_shared<const Principal>(
      Principal::Parts{.name = name_of(*rule, *claims),
                       .permissions = settings->permissions[static_cast<std::size_t>(rule - settings->rules.data())]});
}

Result<std::string> Identities::match(std::string_view text) const {
  const auto claims = read_claims(text);
  if (!claims) return std::unexpected(claims.error());
  const auto settings = settings_.get();
  boost::json::object answer;
  boost::json::array passed_over;
  for (std::size_t i = 0; i < settings->rules.size(); ++i) {
    const Rule& rule = settings->rules[i];
    if (const auto why = why_not(rule, *claims)) {
      passed_over.push_back({{"rule", i}, {"why", *why}});
      continue;
    }
    answer["rule"] = i;
    answer["name"] = name_of(rule, *claims);
    answer["access"] = rule_binding().write(rule);
    break;
  }
  if (!answer.contains("rule")) answer["rule"] = nullptr;
  answer["passed_over"] = std::move(passed_over);
  return boost::json::serialize(answer);
}

Task<std::expected<Identities::Operator, server::Refusal>> Identities::find_operator(const net::Request& request) {
  const auto settings = settings_.get();
  const std::string resource = settings->resources.admin();
  const Credentials given = credentials_of(request);
  if (given.token.empty()) co_return std::unexpected(unknown(*settings, request, resource));
  auto verdict = co_await verifier_.verify(settings->known, Secret(std::string(given.token)));
  if (!verdict) co_return std::unexpected(refuse(*settings, request, resource, verdict.error()));
  const auth::Identity& identity = **verdict;
  const std::string url = settings->resources.gateway() + std::string(request.path());
  if (auto used = verifier_.check_use(identity, use_of(given, request, url, std::span(&resource, 1))); !used)
    co_return std::unexpected(refuse(*settings, request, resource, used.error()));
  co_return make_operator(*settings, identity, request);
}

std::expected<Identities::Operator, server::Refusal> Identities::make_operator(const Settings& settings,
                                                                               const auth::Identity& identity,
                                                                               const net::Request& request) const {
  const std::string resource = settings.resources.admin();
  // The audiences in the settings are for the endpoints, not for the admin API.
  if (!auth::is_for(identity.claims, std::span(&resource, 1))) {
    return std::unexpected(
        refuse(settings, request, resource, auth::refusals::other_audience("the token is not for " + resource)));
  }
  const Rule* const rule = first_that_fits(settings.rules, identity.claims);
  if (rule == nullptr || rule->admin == AdminRole::none) return std::unexpected(no_rule(request, identity));
  return Operator{name_of(*rule, identity.claims), rule->admin, identity.expires, identity.issuer(),
                  operator_digest(settings, identity.issuer()).value_or(json::Digest{})};
}

// Verifies a token that the gateway itself got from the issuer, like the token of a request, but without a proof: the
// token need not be bound to a key, because nobody else has seen it.
Task<std::expected<auth::IdentityPointer, server::Refusal>> Identities::verify(std::shared_ptr<const Settings> settings,
                                                                               Secret token, std::string resource,
                                                                               const net::Request& request) {
  auto verdict = co_await verifier_.verify(settings->known, token);
  if (!verdict) co_return std::unexpected(refuse(*settings, request, resource, verdict.error()));
  const auth::TokenUse use{.token = token.reveal(), .audiences = std::span(&resource, 1)};
  if (auto used = verifier_.check_use(**verdict, use); !used)
    co_return std::unexpected(refuse(*settings, request, resource, used.error()));
  co_return std::move(*verdict);
}

Task<Identities::Found> Identities::find_person(Secret token, const net::Request& request) {
  const auto settings = settings_.get();
  const auto identity = co_await verify(settings, std::move(token), settings->resources.endpoint(""), request);
  if (!identity) co_return std::unexpected(identity.error());
  co_return make_principal(*settings, **identity, request);
}

Task<std::expected<Identities::Operator, server::Refusal>> Identities::find_operator(Secret token,
                                                                                     const net::Request& request) {
  const auto settings = settings_.get();
  const auto identity = co_await verify(settings, std::move(token), settings->resources.admin(), request);
  if (!identity) co_return std::unexpected(identity.error());
  co_return make_operator(*settings, **identity, request);
}

std::vector<std::string> Identities::sign_in_issuers() const {
  std::vector<std::string> all;
  for (const auto& issuer : settings_.get()->issuers) {
    if (issuer.sign_in.are_given()) all.push_back(issuer.issuer);
  }
  return all;
}

std::optional<json::Digest> Identities::operator_digest(std::string_view issuer) const {
  return operator_digest(*settings_.get(), issuer);
}

std::optional<json::Digest> Identities::operator_digest(const Settings& settings, std::string_view issuer) {
  const auto found = std::ranges::find(settings.issuers, issuer, &auth::IssuerSettings::issuer);
  if (found == settings.issuers.end()) return std::nullopt;
  return json::sha256(fmt::format("{}\n{}\n{}", issuer, found->sign_in.client_id, settings.rules_text));
}

std::optional<auth::IssuerSettings> Identities::sign_in_at(std::string_view issuer) const {
  const auto settings = settings_.get();
  const auto found = std::ranges::find(settings->issuers, issuer, &auth::IssuerSettings::issuer);
  if (found == settings->issuers.end() || !found->sign_in.are_given()) return std::nullopt;
  return *found;
}

}  // namespace proteus::gateway
