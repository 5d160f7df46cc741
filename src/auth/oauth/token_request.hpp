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

enum class TokenType : std::uint8_t { bearer, dpop, none };  // none: an assertion, which is no access token

// What a token endpoint granted.
struct TokenAnswer {
  Secret access_token;
  TokenType type = TokenType::bearer;
  std::optional<Clock::Wall> expires = std::nullopt;
  Secret refresh_token = {};  // empty for none: the one before stays in use
  Scopes scopes = {};         // granted: those asked for, where the answer does not say
  Secret id_token = {};
};

inline constexpr std::size_t kMaxToken = std::size_t{64} * 1024;

// Judges an answer to this grant. Errors say what to do next and never quote a token:
//   unauthenticated  invalid_grant: the code, refresh token or assertion is no good any more
//   forbidden        the server refuses this client or what it asks for; the same request will fail again
//   unavailable      the server cannot say now: 429, 5xx, temporarily_unavailable
//   protocol         it answered what no server may
Result<TokenAnswer> read_token_answer(const FetchAnswer& answer, const Grant& grant, Clock::Wall now);

// Asks a token endpoint, with the client's authentication and, with a prover, a proof; once more where the server wants
// a nonce in it. No I/O.
class TokenRequest {
 public:
  using Outcome = TokenAnswer;

  // `prover` and `clock` must outlive it; the prover may be null. Fails where the client belongs to another issuer, or
  // the server has no token endpoint or none of the client's ways to authenticate.
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

// Revocation (RFC 7009) of a refresh or access token; nothing where the server does not offer it.
Result<std::optional<FetchRequest>> revocation_request(const ServerMetadata& server, const Client& client,
                                                       const Secret& token, std::string_view hint, Clock::Wall now);
Result<> read_revocation(const FetchAnswer& answer);

}  // namespace proteus::auth::oauth
