#include "auth/oauth/run.hpp"

namespace proteus::auth::oauth {

Task<Result<Client>> find_client(Fetch& fetch, const Clock& clock, Discovered discovered, ClientSources sources) {
  auto chosen = choose_client(discovered, sources, clock.wall());
  if (!chosen) co_return std::unexpected(std::move(chosen.error()));
  if (*chosen) co_return std::move(**chosen);
  auto request = registration_request(discovered, *sources.description);
  if (!request) co_return std::unexpected(std::move(request.error()));
  const auto answer = co_await fetch.fetch(std::move(*request));
  if (!answer) co_return std::unexpected(answer.error());
  co_return read_registration(*answer, discovered, *sources.description, clock.wall());
}

Task<Result<TokenAnswer>> ask_for_token(Fetch& fetch, const Clock& clock, ServerMetadata server, Client client,
                                        Grant grant, DpopProver* prover) {
  auto request = TokenRequest::make(server, client, std::move(grant), clock, prover);
  if (!request) co_return std::unexpected(std::move(request.error()));
  co_return co_await run(std::move(*request), fetch);
}

Task<Result<TokenAnswer>> follow_chain(Fetch& fetch, const Clock& clock, AssertionChain chain, DpopProver* prover) {
  const Discovered& at = chain.discovered;
  const auto assertion =
      co_await ask_for_token(fetch, clock, chain.identity_provider, chain.client_there,
                             identity_assertion_grant(chain.id_token, at.issuer(), at.resource, chain.scopes));
  if (!assertion) co_return std::unexpected(Error(assertion.error()).within("the identity provider"));
  co_return co_await ask_for_token(fetch, clock, at.server, chain.client,
                                   jwt_bearer_grant(assertion->access_token, at.resource, chain.scopes), prover);
}

Task<Result<>> revoke(Fetch& fetch, const Clock& clock, ServerMetadata server, Client client, Secret token,
                      std::string hint) {
  auto request = revocation_request(server, client, token, hint, clock.wall());
  if (!request) co_return std::unexpected(std::move(request.error()));
  if (!*request) co_return Result<>();
  const auto answer = co_await fetch.fetch(std::move(**request));
  if (!answer) co_return std::unexpected(answer.error());
  co_return read_revocation(*answer);
}

}  // namespace proteus::auth::oauth
