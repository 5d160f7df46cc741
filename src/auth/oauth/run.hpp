#pragma once

#include <optional>
#include <string>
#include <utility>

#include <proteus/error.hpp>

#include "auth/fetch/fetch.hpp"
#include "auth/oauth/authorization.hpp"
#include "auth/oauth/client.hpp"
#include "auth/oauth/discovery.hpp"
#include "auth/oauth/token_request.hpp"
#include "base/clock.hpp"
#include "base/task.hpp"

// Carries the machines out, over a port that sends.
namespace proteus::auth::oauth {

// Sends what the machine says next until it has its outcome. Bounded: no machine asks more than a few times.
template <class Machine>
Task<Result<typename Machine::Outcome>> run(Machine machine, Fetch& fetch) {
  while (true) {
    auto request = machine.next();
    if (!request) co_return std::unexpected(std::move(request.error()));
    if (!*request) co_return std::move(machine).outcome();
    if (auto taken = machine.take(co_await fetch.fetch(std::move(**request))); !taken)
      co_return std::unexpected(std::move(taken.error()));
  }
}

// The client to use at this server, registered dynamically where that is needed. What is new
// (`Registered::dynamically`, and not the one in `sources`) is worth keeping.
Task<Result<Client>> find_client(Fetch& fetch, const Clock& clock, Discovered discovered, ClientSources sources);

// One token request. `prover` may be null, and outlives the task.
Task<Result<TokenAnswer>> ask_for_token(Fetch& fetch, const Clock& clock, ServerMetadata server, Client client,
                                        Grant grant, DpopProver* prover = nullptr);

// The enterprise chain: an ID token of the user for an assertion at the identity provider, and that for an access token
// at the resource's own server. Each server sees only its own client.
struct AssertionChain {
  ServerMetadata identity_provider;
  Client client_there;
  Secret id_token;
  Discovered discovered;
  Client client;
  Scopes scopes = {};
};
Task<Result<TokenAnswer>> follow_chain(Fetch& fetch, const Clock& clock, AssertionChain chain,
                                       DpopProver* prover = nullptr);

// Ends a token at its server, where that is offered.
Task<Result<>> revoke(Fetch& fetch, const Clock& clock, ServerMetadata server, Client client, Secret token,
                      std::string hint);

}  // namespace proteus::auth::oauth
