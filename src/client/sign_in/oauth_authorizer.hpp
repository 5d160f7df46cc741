#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "auth/oauth/run.hpp"
#include "base/clock.hpp"
#include "base/tasks/async_mutex.hpp"
#include "client/message/authorizer.hpp"
#include "client/message/transport.hpp"
#include "client/sign_in/sign_in.hpp"

namespace proteus::client {

enum class OAuthGrant : std::uint8_t { authorization_code, client_credentials, jwt_bearer, identity_assertion };

// The settings that the user of a server chooses; the rest comes from the server's refusal.
struct OAuthOptions {
  net::Url endpoint;
  OAuthGrant grant = OAuthGrant::authorization_code;
  std::string issuer = {};          // the only one to use; empty: the one that the server names
  auth::oauth::Scopes scopes = {};  // replace those that the server names
  auth::oauth::ClientSources client = {};
  // `authorize` shows a person the URL, and returns the URL that the browser was redirected to. Empty for no person.
  std::string redirect_uri = {};
  std::function<Task<Result<std::string>>(std::string url)> authorize = {};
  // Returns an assertion for this issuer; for an identity assertion, the ID token.
  std::function<Task<Result<std::string>>(std::string issuer)> assertion = {};
  auth::oauth::Client identity_provider = {};  // for an identity assertion: the client at that issuer
  // `kept` is the sign-in of an earlier run. `keep` is called whenever the sign-in changes.
  std::optional<SignIn> kept = std::nullopt;
  std::function<void(const SignIn&)> keep = {};
};

// Signs in when a server refuses a request, and again when necessary; one sign-in at a time. Belongs to one thread. The
// fetch and the clock must outlive it.
class OAuthAuthorizer final : public Authorizer {
 public:
  // How long before its expiry a token is renewed.
  static constexpr std::chrono::seconds kAhead{30};
  // How long the next sign-in has to wait after one that failed, or whose token was refused at once.
  static constexpr std::chrono::seconds kPause{60};

  OAuthAuthorizer(const Executor& executor, auth::Fetch& fetch, const Clock& clock, OAuthOptions options);

  Task<Result<std::vector<Header>>> headers(std::string_view method, const net::Url& url) override;
  Task<Result<bool>> refused(Refusal refusal) override;
  void accepted(std::string_view dpop_nonce) override;

 private:
  std::string authorization() const;
  bool is_interactive() const { return options_.grant == OAuthGrant::authorization_code; }
  bool can_renew() const;
  Task<Result<>> renew();
  Task<Result<bool>> widen(auth::oauth::ChallengeHints hints);
  Task<Result<bool>> replace(auth::oauth::ChallengeHints hints);
  Task<Result<>> sign_in(auth::oauth::Discovered at, auth::oauth::Scopes scopes);
  Task<Result<auth::oauth::TokenAnswer>> ask(const SignIn& with);
  Task<Result<auth::oauth::TokenAnswer>> ask_by_browser(const SignIn& with);
  auth::oauth::DpopProver* prover() { return prover_ ? &*prover_ : nullptr; }
  void use(SignIn granted);
  void forget_client();
  void forget_grant();

  auth::Fetch& fetch_;
  const Clock& clock_;
  OAuthOptions options_;
  std::optional<SignIn> current_;
  std::optional<auth::oauth::DpopProver> prover_;
  auth::oauth::StepUp step_up_;
  bool was_accepted_ = false;  // whether the server has accepted the current token
  std::optional<Error> last_fault_;
  Clock::Monotonic pause_until_{};
  AsyncMutex signing_in_;  // held to use the sign-in or to change it
};

}  // namespace proteus::client
