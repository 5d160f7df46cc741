#include "client/sign_in/oauth_authorizer.hpp"

#include <algorithm>
#include <utility>

namespace proteus::client {

namespace oauth = auth::oauth;

namespace {

// Returns the value of a header that was sent; empty for none.
std::string_view sent_field(const Refusal& refusal, std::string_view name) {
  const auto found = std::ranges::find(refusal.sent, name, [](const auto& pair) { return pair.first; });
  return found == refusal.sent.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view query_of(std::string_view redirected) {
  const std::size_t begin = redirected.find('?');
  const std::string_view query = begin == std::string_view::npos ? redirected : redirected.substr(begin + 1);
  return query.substr(0, query.find('#'));
}

}  // namespace

OAuthAuthorizer::OAuthAuthorizer(const Executor& executor, auth::Fetch& fetch, const Clock& clock, OAuthOptions options)
    : fetch_(fetch), clock_(clock), options_(std::move(options)), signing_in_(executor) {
  if (!options_.kept) return;
  if (!options_.client.registered && options_.kept->client.registered == oauth::Registered::dynamically)
    options_.client.registered = options_.kept->client;
  step_up_.start_with(options_.kept->asked);
  if (options_.kept->dpop_key) prover_.emplace(*options_.kept->dpop_key);
  current_ = std::move(options_.kept);
  options_.kept.reset();
  was_accepted_ = true;  // a refusal of a kept token leads to a new sign-in, not to a pause
}

std::string OAuthAuthorizer::authorization() const {
  if (!current_ || current_->granted.access_token.empty()) return {};
  const auto& granted = current_->granted;
  return (granted.type == oauth::TokenType::dpop ? "DPoP " : "Bearer ") + granted.access_token.reveal();
}

bool OAuthAuthorizer::can_renew() const {
  return current_ && (!current_->granted.refresh_token.empty() || !is_interactive());
}

Task<Result<std::vector<Header>>> OAuthAuthorizer::headers(std::string_view method, const net::Url& url) {
  const auto lock = co_await signing_in_.take();
  if (current_ && current_->granted.expires && *current_->granted.expires - kAhead <= clock_.wall() && can_renew()) {
    auto renewed = co_await renew();
    const auto end = current_->granted.expires;
    if (!renewed && end && *end <= clock_.wall()) co_return std::unexpected(std::move(renewed.error()));
  }
  std::vector<Header> headers;
  std::string value = authorization();
  if (value.empty()) co_return headers;
  headers.emplace_back("Authorization", std::move(value));
  if (current_->granted.type == oauth::TokenType::dpop)
    headers.emplace_back("DPoP", prover_->proof(method, url, clock_.wall(), current_->granted.access_token.reveal()));
  co_return headers;
}

void OAuthAuthorizer::accepted(std::string_view dpop_nonce) {
  if (current_) was_accepted_ = true;
  if (prover_) prover_->take_nonce(options_.endpoint, dpop_nonce);
}

Task<Result<bool>> OAuthAuthorizer::refused(Refusal refusal) {
  const auto lock = co_await signing_in_.take();
  oauth::ChallengeHints hints = oauth::read_hints(refusal.challenge);
  if (prover_) (void)prover_->take_nonce(options_.endpoint, refusal.dpop_nonce);
  // RFC 9449, section 9: this is never about the token. Another request may have brought the nonce already.
  if (prover_ && hints.error == "use_dpop_nonce") co_return true;
  // Another request was refused before, and the token has changed since this one was sent.
  if (sent_field(refusal, "Authorization") != authorization()) co_return true;
  if (clock_.now() < pause_until_) {
    if (last_fault_) co_return std::unexpected(*last_fault_);
    co_return false;
  }
  Result<bool> better = false;
  if (refusal.status == 403) {
    better = co_await widen(std::move(hints));
  } else {
    better = co_await replace(std::move(hints));
  }
  last_fault_.reset();
  if (!better) {
    last_fault_ = better.error();
    pause_until_ = clock_.now() + kPause;
  }
  co_return better;
}

Task<Result<bool>> OAuthAuthorizer::widen(oauth::ChallengeHints hints) {
  if (!current_ || hints.error != "insufficient_scope") co_return false;
  auto scopes = step_up_.widen(hints.scopes);
  if (!scopes) co_return false;
  auto at = co_await oauth::run(oauth::Discovery(options_.endpoint, std::move(hints), options_.issuer), fetch_);
  if (!at) co_return std::unexpected(std::move(at.error()));
  if (auto done = co_await sign_in(std::move(*at), std::move(*scopes)); !done)
    co_return std::unexpected(std::move(done.error()));
  co_return true;
}

Task<Result<bool>> OAuthAuthorizer::replace(oauth::ChallengeHints hints) {
  if (current_ && !was_accepted_ && !authorization().empty()) {
    // A new token was refused, so another would be, too.
    pause_until_ = clock_.now() + kPause;
    current_.reset();
    co_return false;
  }
  auto at = co_await oauth::run(oauth::Discovery(options_.endpoint, std::move(hints), options_.issuer), fetch_);
  if (!at) co_return std::unexpected(std::move(at.error()));
  const bool has_moved = current_ && current_->at.issuer() != at->issuer();
  if (has_moved) {
    current_.reset();
    step_up_ = {};
  }
  if (current_ && !current_->granted.refresh_token.empty()) {
    current_->at = *at;
    if (co_await renew()) co_return true;
  }
  const auto first =
      oauth::first_scopes(*at, options_.scopes, is_interactive() ? oauth::Offline::yes : oauth::Offline::no);
  auto scopes = oauth::united(step_up_.asked(), first);
  step_up_.start_with(scopes);
  if (auto done = co_await sign_in(std::move(*at), std::move(scopes)); !done)
    co_return std::unexpected(std::move(done.error()));
  co_return true;
}

Task<Result<>> OAuthAuthorizer::renew() {
  SignIn renewed = *current_;
  Result<oauth::TokenAnswer> granted;
  if (renewed.granted.refresh_token.empty()) {
    granted = co_await ask(renewed);
  } else {
    granted = co_await oauth::ask_for_token(
        fetch_, clock_, renewed.at.server, renewed.client,
        oauth::refresh_grant(renewed.granted.refresh_token, renewed.at.resource, renewed.granted.scopes), prover());
  }
  if (!granted) {
    const ErrorKind kind = granted.error().kind();
    if (kind == ErrorKind::not_found) forget_client();
    if (kind == ErrorKind::unauthenticated || kind == ErrorKind::forbidden || kind == ErrorKind::not_found)
      forget_grant();
    co_return std::unexpected(std::move(granted.error()));
  }
  if (granted->refresh_token.empty()) granted->refresh_token = renewed.granted.refresh_token;
  renewed.granted = std::move(*granted);
  use(std::move(renewed));
  co_return Result<>();
}

Task<Result<>> OAuthAuthorizer::sign_in(oauth::Discovered at, oauth::Scopes scopes) {
  if (is_interactive() && !options_.authorize)
    co_return std::unexpected(errors::unauthenticated("the server wants a sign-in"));
  auto& registered = options_.client.registered;
  // A client without an issuer is bound to the first issuer that it is used with.
  if (registered && registered->issuer.empty()) registered->issuer = at.issuer();
  auto client = co_await oauth::find_client(fetch_, clock_, at, options_.client);
  if (!client) co_return std::unexpected(std::move(client.error()));
  if (client->registered == oauth::Registered::dynamically) registered = *client;
  if (at.requires_dpop && !prover_) {
    const auto& algorithms = at.server.dpop_algorithms;
    if (!algorithms.empty() && std::ranges::find(algorithms, "ES256") == algorithms.end())
      co_return std::unexpected(errors::unsupported("the authorization server takes no proofs with ES256"));
    prover_.emplace();
  }
  SignIn made{.at = std::move(at), .client = std::move(*client), .granted = {}, .asked = std::move(scopes)};
  Result<oauth::TokenAnswer> granted;
  if (is_interactive()) {
    granted = co_await ask_by_browser(made);
  } else {
    granted = co_await ask(made);
  }
  if (!granted) {
    if (granted.error().kind() == ErrorKind::not_found) forget_client();
    co_return std::unexpected(std::move(granted.error()));
  }
  if (granted->type == oauth::TokenType::none || (made.at.requires_dpop && granted->type != oauth::TokenType::dpop))
    co_return std::unexpected(errors::protocol("the authorization server gave a token that the resource cannot take"));
  made.granted = std::move(*granted);
  if (prover_) made.dpop_key = prover_->key();
  use(std::move(made));
  co_return Result<>();
}

Task<Result<oauth::TokenAnswer>> OAuthAuthorizer::ask_by_browser(const SignIn& with) {
  oauth::AuthorizationSettings settings{.redirect_uri = options_.redirect_uri, .scopes = with.asked};
  if (prover_) settings.dpop_thumbprint = prover_->key().thumbprint();
  const auto request = oauth::begin_authorization(with.at, with.client, settings);
  if (!request) co_return std::unexpected(request.error());
  const auto redirected = co_await options_.authorize(request->url);
  if (!redirected) co_return std::unexpected(redirected.error());
  const auto callback = oauth::read_callback(query_of(*redirected));
  if (!callback) co_return std::unexpected(callback.error());
  const auto code = oauth::judge_callback(*callback, *request);
  if (!code) co_return std::unexpected(code.error());
  co_return co_await oauth::ask_for_token(fetch_, clock_, with.at.server, with.client,
                                          oauth::code_grant(*request, *code), prover());
}

Task<Result<oauth::TokenAnswer>> OAuthAuthorizer::ask(const SignIn& with) {
  if (options_.grant == OAuthGrant::client_credentials) {
    co_return co_await oauth::ask_for_token(fetch_, clock_, with.at.server, with.client,
                                            oauth::client_credentials_grant(with.at.resource, with.asked), prover());
  }
  const bool is_chain = options_.grant == OAuthGrant::identity_assertion;
  auto assertion = co_await options_.assertion(is_chain ? options_.identity_provider.issuer : with.at.issuer());
  if (!assertion) co_return std::unexpected(std::move(assertion.error()));
  if (!is_chain) {
    co_return co_await oauth::ask_for_token(
        fetch_, clock_, with.at.server, with.client,
        oauth::jwt_bearer_grant(Secret(std::move(*assertion)), with.at.resource, with.asked), prover());
  }
  auto provider =
      co_await oauth::run(oauth::Discovery::of_issuer(options_.identity_provider.issuer, with.at.resource), fetch_);
  if (!provider) co_return std::unexpected(std::move(provider.error()).within("the identity provider"));
  co_return co_await oauth::follow_chain(fetch_, clock_,
                                         {.identity_provider = std::move(provider->server),
                                          .client_there = options_.identity_provider,
                                          .id_token = Secret(std::move(*assertion)),
                                          .discovered = with.at,
                                          .client = with.client,
                                          .scopes = with.asked},
                                         prover());
}

void OAuthAuthorizer::use(SignIn granted) {
  current_ = std::move(granted);
  was_accepted_ = false;
  if (options_.keep) options_.keep(*current_);
}

// The server no longer knows the client that was registered there, so the next sign-in registers another one.
void OAuthAuthorizer::forget_client() {
  auto& registered = options_.client.registered;
  if (!registered || registered->registered != oauth::Registered::dynamically) return;
  if (current_ && current_->client.id == registered->id) current_->client = {};
  registered.reset();
}

void OAuthAuthorizer::forget_grant() {
  current_->granted = {};
  if (options_.keep) options_.keep(*current_);
}

}  // namespace proteus::client
