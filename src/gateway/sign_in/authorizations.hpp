#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "auth/oauth/authorization.hpp"
#include "auth/oauth/client.hpp"
#include "auth/oauth/discovery.hpp"
#include "auth/oauth/token_request.hpp"
#include "auth/tokens/private_key.hpp"
#include "base/secrets/secret.hpp"
#include "base/tasks/task.hpp"
#include "gateway/grants/grant.hpp"
#include "gateway/sign_in/ticket.hpp"

namespace proteus::gateway {

// The plan of a sign-in: where the user will be sent, what is requested there, and as which client.
struct Plan {
  auth::oauth::Discovered discovered;
  std::optional<auth::oauth::Client> client;  // nothing if it must be registered first
  auth::oauth::Scopes scopes = {};
  std::string redirect_uri = {};
  std::optional<auth::PrivateKey> proof_key = {};  // for DPoP
  GrantTarget target = {};                         // of the upstream; empty at an identity provider

  // Returns the same text for plans that send people to the same place for the same purpose. Consent to one plan is no
  // consent to a plan with another digest.
  std::string digest() const;
};
using PlanPointer = std::shared_ptr<const Plan>;

// Returns the name of an issuer in our own URLs. Each issuer has its own redirect URI, so that a code from one server
// cannot be taken for a code from another.
std::string issuer_name(std::string_view issuer);
bool is_issuer_name(std::string_view name);
std::string redirect_uri_for(std::string_view gateway_url, std::string_view issuer);
// Returns the URL of our client metadata document, for authorization servers that support such documents. `issuer_name`
// names the server's issuer.
std::string client_document_url(std::string_view gateway_url, std::string_view issuer_name);
auth::oauth::ClientDescription client_description(std::string_view gateway_url, std::string_view issuer_name);

// The connect pages' access to authorization servers. May be used on any worker's thread.
class Authorizations {
 public:
  virtual ~Authorizations() = default;

  enum class Registration : std::uint8_t {
    as_it_is,  // registers nothing
    if_needed,
  };
  // Plans the connection of a ticket's upstream.
  virtual Task<Result<PlanPointer>> plan(Ticket ticket, Registration registration) = 0;
  // Plans a sign-in at an identity provider, for a token for our own resource.
  virtual Task<Result<PlanPointer>> plan_identity(std::string issuer, std::string resource) = 0;
  // To be called when a person comes back from the server of this plan. `error` is the server's error code; empty for
  // none.
  virtual Task<> came_back(PlanPointer plan, std::string error) = 0;
  // Exchanges a code for tokens.
  virtual Task<Result<auth::oauth::TokenAnswer>> redeem(PlanPointer plan, auth::oauth::AuthorizationRequest request,
                                                        Secret code) = 0;
};

}  // namespace proteus::gateway
