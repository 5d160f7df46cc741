#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "auth/fetch/fetch.hpp"
#include "auth/oauth/client.hpp"
#include "auth/oauth/dpop_prover.hpp"
#include "auth/oauth/grants.hpp"
#include "base/clock.hpp"

namespace proteus::auth::oauth {

enum class TokenType : std::uint8_t { bearer, dpop, none };  // none: an assertion, not an access token

// What a token endpoint granted.
struct TokenAnswer {
  Secret access_token;
  TokenType type = TokenType::bearer;
  std::optional<Clock::Wall> expires = std::nullopt;
  Secret refresh_token = {};  // empty: the previous one stays in use
  Scopes scopes = {};         // granted; the requested scopes if the answer names none
  Secret id_token = {};
};

inline constexpr std::size_t kMaxToken = std::size_t{64} * 1024;

// Reads the answer to a request for this grant. Errors never quote a token. Their kind says what to do next:
//   unauthenticated  invalid_grant: the code, refresh token or assertion is no longer valid
//   not_found        invalid_client: the server does not know this client, or not with these credentials
//   forbidden        the server refuses the request; the same request will fail again
//   unavailable      the server cannot answer now: 429, 5xx, temporarily_unavailable
//   protocol         the answer violates the protocol
Result<TokenAnswer> read_token_answer(const FetchAnswer& answer, const Grant& grant, Clock::Wall now);

// Requests a token from a token endpoint, with the client's authentication and, if there is a prover, a proof. Requests
// it once more if the server demands a nonce in the proof. No I/O.
class TokenRequest {
 public:
  using Outcome = TokenAnswer;

  // `prover` and `clock` must outlive the request; `prover` may be null. Fails if the client belongs to another issuer,
  // or if the server has no token endpoint or accepts none of the client's ways to authenticate.
  static Result<TokenRequest> make(const ServerMetadata& server, const Client& client, Grant grant, const Clock& clock,
                                   DpopProver* prover = nullptr);

  Result<std::optional<FetchRequest>> next();
  Result<> take(Result<FetchAnswer> answer);
  TokenAnswer outcome() &&;

 private:
  TokenRequest(net::Url url, const Client& client, ClientAuthentication authentication, Grant grant, const Clock& clock,
               DpopProver* prover);

  net::Url url_;

  Client client_;
  ClientAuthentication authentication_;
  Grant grant_;
  const Clock* clock_;
  DpopProver* prover_;
  bool has_new_nonce_ = false;
  std::optional<TokenAnswer> granted_;
};

// Returns a revocation request (RFC 7009) for a refresh or access token; nothing if the server offers no revocation.
Result<std::optional<FetchRequest>> revocation_request(const ServerMetadata& server, const Client& client,
                                                       const Secret& token, std::string_view hint, Clock::Wall now);
Result<> read_revocation(const FetchAnswer& answer);

}  // namespace proteus::auth::oauth
