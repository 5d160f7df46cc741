#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "auth/oauth/run.hpp"
#include "base/clock.hpp"
#include "base/waiting.hpp"
#include "client/message/authorizer.hpp"
#include "client/message/transport.hpp"
#include "client/sign_in/sign_in.hpp"

namespace proteus::client {

enum class OAuthGrant : std::uint8_t { authorization_code, client_credentials, jwt_bearer, identity_assertion };

// What is decided by whoever uses a server, and not by the server's refusal.
struct OAuthOptions {
  net::Url endpoint;
  OAuthGrant grant = OAuthGrant::authorization_code;
  std::string issuer = {};          // the only one to use; empty: the one that the server names
  auth::oauth::Scopes scopes = {};  // instead of those that the server names
  auth::oauth::ClientSources client = {};
  // Shows a person the URL, and gives where the browser was led afterwards. None: nobody can be asked.
  std::string redirect_uri = {};
  std::function<Task<Result<std::string>>(std::string url)> authorize = {};
  // An assertion for this issuer; for an identity assertion, the ID token.
  std::function<Task<Result<std::string>>(std::string issuer)> assertion = {};
  auth::oauth::Client identity_provider = {};  // for an identity assertion: its issuer, and the client there
  // What is kept: from before, and whenever it is another.
  std::optional<SignIn> kept = std::nullopt;
  std::function<void(const SignIn&)> keep = {};
};

// Signs in when a server refuses, and again where that is needed; one sign-in at a time. Belongs to one thread. The
// fetch and the clock must outlive it.
class OAuthAuthorizer final : public Authorizer {
 public:
  // A token is renewed this long before its end.
  static constexpr std::chrono::seconds kAhead{30};
  // After a sign-in that failed, or brought a token that was refused at once, the next has to wait.
  static constexpr std::chrono::seconds kPause{60};

  OAuthAuthorizer(const Executor& executor, auth::Fetch& fetch, const Clock& clock, OAuthOptions options);

  Task<Result<std::vector<Header>>> headers(std::string_view method, const net::Url& url) override;
  Task<Result<bool>> refused(Refusal refusal) override;
  void accepted(std::string_view dpop_nonce) override;

 private:
  // Whoever changes what is granted.
  class Turn;

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
  void forget_grant();

  auth::Fetch& fetch_;
  const Clock& clock_;
  OAuthOptions options_;
  std::optional<SignIn> current_;
  std::optional<auth::oauth::DpopProver> prover_;
  auth::oauth::StepUp step_up_;
  bool was_accepted_ = false;  // the current token
  std::optional<Error> last_fault_;
  Clock::Monotonic pause_until_{};
  bool is_busy_ = false;
  Bell done_;
};

}  // namespace proteus::client
