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
#include "base/secret.hpp"
#include "base/task.hpp"
#include "gateway/sign_in/ticket.hpp"

namespace proteus::gateway {

// Where somebody is going to be sent, what is asked for there, and as which client.
struct Plan {
  auth::oauth::Discovered discovered;
  std::optional<auth::oauth::Client> client;  // nothing where it has to be registered first
  auth::oauth::Scopes scopes = {};
  std::string redirect_uri = {};
  std::optional<auth::PrivateKey> proof_key = {};  // for DPoP

  // The same for plans that send people to the same place for the same thing: consent to one is none to another.
  std::string digest() const;
};
using PlanPointer = std::shared_ptr<const Plan>;

// By which name an issuer is known in our own URLs: each has a redirect URI of its own, so that a code which one server
// gives cannot be taken for another's.
std::string issuer_name(std::string_view issuer);
bool is_issuer_name(std::string_view name);
std::string redirect_uri_for(std::string_view gateway_url, std::string_view issuer);
// Where an authorization server that takes documents finds what we say about ourselves, by the name of its issuer.
std::string client_document_url(std::string_view gateway_url, std::string_view issuer_name);
auth::oauth::ClientDescription client_description(std::string_view gateway_url, std::string_view issuer_name);

// How the connect pages reach authorization servers. On any worker's thread.
class Authorizations {
 public:
  virtual ~Authorizations() = default;

  enum class Registration : std::uint8_t {
    as_it_is,  // changes nothing anywhere
    if_needed,
  };
  // Of the upstream that a ticket is for.
  virtual Task<Result<PlanPointer>> plan(Ticket ticket, Registration registration) = 0;
  // Of a sign-in at an identity provider, for a token for our own resource.
  virtual Task<Result<PlanPointer>> plan_identity(std::string issuer, std::string resource) = 0;
  // What the server gives for a code.
  virtual Task<Result<auth::oauth::TokenAnswer>> redeem(PlanPointer plan, auth::oauth::AuthorizationRequest request,
                                                        Secret code) = 0;
};

}  // namespace proteus::gateway
