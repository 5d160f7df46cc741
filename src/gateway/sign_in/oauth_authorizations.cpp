#include "gateway/sign_in/oauth_authorizations.hpp"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "auth/oauth/run.hpp"
#include "base/log/log.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;
namespace oauth = auth::oauth;

namespace {

constexpr std::size_t kMostAway = 1000;
// How long the metadata of an identity provider are kept, and how long a failure to read them.
constexpr std::chrono::minutes kProviderKept{1};
constexpr std::chrono::seconds kFaultKept{5};
// A harmless request: it changes nothing, whatever the answer is.
constexpr std::string_view kPing = R"({"jsonrpc":"2.0","id":0,"method":"ping"})";

}  // namespace

OAuthAuthorizations::OAuthAuthorizations(Dependencies dependencies)
    : dependencies_(dependencies), fetch_(dependencies.gateway.control_fetch()) {}

Task<Result<PlanPointer>> OAuthAuthorizations::plan(Ticket ticket, Registration registration) {
  co_return co_await asio::co_spawn(dependencies_.gateway.control(), plan_there(std::move(ticket), registration),
                                    asio::use_awaitable);
}

Task<Result<PlanPointer>> OAuthAuthorizations::plan_identity(std::string issuer, std::string resource) {
  co_return co_await asio::co_spawn(dependencies_.gateway.control(),
                                    plan_identity_there(std::move(issuer), std::move(resource)), asio::use_awaitable);
}

Task<Result<oauth::TokenAnswer>> OAuthAuthorizations::redeem(PlanPointer plan, oauth::AuthorizationRequest request,
                                                             Secret code) {
  co_return co_await asio::co_spawn(dependencies_.gateway.control(),
                                    redeem_there(std::move(plan), std::move(request), std::move(code)),
                                    asio::use_awaitable);
}

Task<> OAuthAuthorizations::came_back(PlanPointer plan, std::string error) {
  co_await asio::co_spawn(dependencies_.gateway.control(), came_back_there(std::move(plan), std::move(error)),
                          asio::use_awaitable);
}

Task<> OAuthAuthorizations::came_back_there(PlanPointer plan, std::string error) {
  if (!plan->client) co_return;
  const std::pair client(plan->client->issuer, plan->client->id);
  // The browser may have made the error up, so it counts no more than people who stay away.
  if (error == "invalid_client" || error == "unauthorized_client") {
    away_[client] = kMostLost;
  } else {
    away_.erase(client);
  }
}

Task<std::string> OAuthAuthorizations::challenge_of(net::Url endpoint) {
  auth::FetchRequest request{.url = std::move(endpoint), .method = "POST"};
  request.fields.emplace_back("Content-Type", Secret("application/json"));
  request.fields.emplace_back("Accept", Secret("application/json, text/event-stream"));
  request.body = Secret(std::string(kPing));
  const auto answer = co_await fetch_.fetch(std::move(request));
  co_return answer && answer->status == 401 ? answer->challenge : std::string();
}

Task<Result<PlanPointer>> OAuthAuthorizations::plan_there(Ticket ticket, Registration registration) {
  const auto table = dependencies_.gateway.upstreams();
  const ServedUpstream* const served = table->find(ticket.upstream);
  if (served == nullptr || !(*served)->settings().authentication.is_oauth())
    co_return std::unexpected(errors::not_found("there is no such server, or nobody signs in there"));
  const auto settings = (*served)->settings();
  const auto& wanted = settings.authentication.oauth;
  auto endpoint = net::Url::parse(settings.url);
  if (!endpoint) co_return std::unexpected(endpoint.error());
  const std::string challenge = ticket.challenge.empty() ? co_await challenge_of(*endpoint) : ticket.challenge;
  auto discovered =
      co_await oauth::run(oauth::Discovery(*endpoint, oauth::read_hints(challenge), wanted.issuer), fetch_);
  if (!discovered) co_return std::unexpected(std::move(discovered.error()));

  auto plan = std::make_shared<Plan>();
  plan->redirect_uri = redirect_uri_for(dependencies_.gateway.identities().gateway_url(), discovered->issuer());
  plan->scopes = oauth::first_scopes(*discovered, wanted.scopes, oauth::Offline::yes);
  const GrantOwner owner = ticket.person.kind == Person::Kind::user ? GrantOwner(ticket.person.key) : gateway_owner();
  plan->target = target_of(settings);
  // A request for more scopes must not lose those that were granted before.
  if (const auto grant = dependencies_.vault.find(owner, plan->target); grant && !ticket.scopes.empty())
    plan->scopes = oauth::united(plan->scopes, grant->tokens.scopes);
  plan->scopes = oauth::united(plan->scopes, ticket.scopes);
  auto client = co_await client_for(*discovered, wanted, plan->redirect_uri, registration);
  if (!client) co_return std::unexpected(std::move(client.error()));
  plan->client = std::move(*client);
  if (discovered->requires_dpop) plan->proof_key = auth::PrivateKey::make();
  plan->discovered = std::move(*discovered);
  co_return plan;
}

unsigned OAuthAuthorizations::leaves(const oauth::Client& client) {
  if (away_.size() >= kMostAway) away_.clear();
  return ++away_[{client.issuer, client.id}];
}

bool OAuthAuthorizations::is_lost(const oauth::Client& client) {
  if (client.registered != oauth::Registered::dynamically) return false;
  if (leaves(client) <= kMostLost) return false;
  away_.erase({client.issuer, client.id});
  return dependencies_.vault.begin_replacing(client);
}

Task<Result<oauth::Client>> OAuthAuthorizations::register_client(oauth::Discovered discovered,
                                                                 oauth::ClientSources sources,
                                                                 std::string redirect_uri) {
  auto client = co_await oauth::find_client(fetch_, dependencies_.clock, std::move(discovered), std::move(sources));
  if (!client) co_return client;
  client->redirect_uri = std::move(redirect_uri);
  if (auto kept = co_await dependencies_.vault.keep(*client); !kept) co_return std::unexpected(std::move(kept.error()));
  leaves(*client);
  co_return client;
}

Task<Result<std::optional<oauth::Client>>> OAuthAuthorizations::client_for(const oauth::Discovered& discovered,
                                                                           const providers::OAuthSettings& settings,
                                                                           std::string redirect_uri,
                                                                           Registration registration) {
  const std::string gateway = dependencies_.gateway.identities().gateway_url();
  const std::string name = issuer_name(discovered.issuer());
  oauth::ClientSources sources;
  auto configured = dependencies_.gateway.oauth_servers().configured_client(settings);
  if (!configured) co_return std::unexpected(std::move(configured.error()));
  if (*configured) {
    sources.registered = std::move(*configured);
    // A public client without a configured issuer is used with whichever issuer the upstream names.
    if (sources.registered->issuer.empty()) sources.registered->issuer = discovered.issuer();
  } else {
    sources.registered = dependencies_.vault.registration(discovered.issuer(), redirect_uri);
    if (gateway.starts_with("https:")) sources.document_url = client_document_url(gateway, name);
    sources.description = client_description(gateway, name);
  }
  auto chosen = oauth::choose_client(discovered, sources, dependencies_.clock.wall());
  if (!chosen) co_return std::unexpected(std::move(chosen.error()));
  if (registration == Registration::as_it_is) co_return std::move(*chosen);
  if (*chosen && !is_lost(**chosen)) co_return std::move(*chosen);
  if (*chosen) sources.registered.reset();
  auto client = co_await register_client(discovered, std::move(sources), std::move(redirect_uri));
  if (client) co_return std::move(*client);
  if (!*chosen) co_return std::unexpected(std::move(client.error()));
  // The present one may well be good: those who left with it may just have changed their minds.
  log::warning("nobody comes back from the authorization server {}, and it registers no other client: {}",
               log::printable(discovered.issuer()), client.error().message());
  co_return std::move(*chosen);
}

Task<Result<oauth::Discovered>> OAuthAuthorizations::identity_provider(std::string issuer) {
  Provider& provider = providers_.try_emplace(issuer, dependencies_.gateway.control().get_executor()).first->second;
  const auto turn = co_await provider.discovering.take();
  if (!provider.found || provider.until <= dependencies_.clock.now()) {
    provider.found = co_await oauth::run(oauth::Discovery::of_issuer(issuer, {}), fetch_);
    provider.until = dependencies_.clock.now() + (*provider.found ? kProviderKept : kFaultKept);
  }
  co_return *provider.found;
}

Task<Result<PlanPointer>> OAuthAuthorizations::plan_identity_there(std::string issuer, std::string resource) {
  const auto settings = dependencies_.gateway.identities().sign_in_at(issuer);
  if (!settings) co_return std::unexpected(errors::not_found("nobody can sign in at this identity provider"));
  auto discovered = co_await identity_provider(issuer);
  if (!discovered) co_return std::unexpected(std::move(discovered.error()));
  discovered->resource = std::move(resource);
  auto plan = std::make_shared<Plan>();
  plan->redirect_uri = redirect_uri_for(dependencies_.gateway.identities().gateway_url(), issuer);
  plan->scopes = settings->scopes;
  const auto table = dependencies_.gateway.upstreams();
  const bool needs_id_token = std::ranges::any_of(table->order, [](const ServedUpstream& served) {
    return served->settings().authentication.oauth.grant == providers::OAuthGrant::identity_assertion;
  });
  if (needs_id_token) plan->scopes = oauth::united(plan->scopes, std::vector<std::string>{"openid"});
  plan->client =
      oauth::Client{.issuer = issuer, .id = settings->sign_in.client_id, .secret = settings->sign_in.client_secret};
  plan->discovered = std::move(*discovered);
  co_return plan;
}

Task<Result<oauth::TokenAnswer>> OAuthAuthorizations::redeem_there(PlanPointer plan,
                                                                   oauth::AuthorizationRequest request, Secret code) {
  std::optional<oauth::DpopProver> prover;
  if (plan->proof_key) prover.emplace(*plan->proof_key);
  auto answer = co_await oauth::ask_for_token(fetch_, dependencies_.clock, plan->discovered.server, *plan->client,
                                              oauth::code_grant(request, code), prover ? &*prover : nullptr);
  if (!answer && answer.error().kind() == ErrorKind::not_found)
    co_await dependencies_.vault.forget_registration(*plan->client);
  co_return answer;
}

}  // namespace proteus::gateway
