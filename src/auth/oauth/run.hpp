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
#include "base/tasks/task.hpp"

// Runs the machines over a port that sends.
namespace proteus::auth::oauth {

// Sends the requests of the machine until it has its outcome. Bounded: no machine makes more than a few requests.
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

// Returns the client to use at this server, after registering it dynamically if needed. A new client
// (`Registered::dynamically`, and not the one in `sources`) is worth keeping.
Task<Result<Client>> find_client(Fetch& fetch, const Clock& clock, Discovered discovered, ClientSources sources);

// Requests a token. `prover` may be null, and must outlive the task.
Task<Result<TokenAnswer>> ask_for_token(Fetch& fetch, const Clock& clock, ServerMetadata server, Client client,
                                        Grant grant, DpopProver* prover = nullptr);

// The enterprise chain: exchanges an ID token of the user at the identity provider for an assertion, and the assertion
// at the resource's own server for an access token. Each server sees only its own client.
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

// Revokes a token at its server. Succeeds without a request if the server offers no revocation.
Task<Result<>> revoke(Fetch& fetch, const Clock& clock, ServerMetadata server, Client client, Secret token,
                      std::string hint);

}  // namespace proteus::auth::oauth
