#pragma once

#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "gateway/sign_in/awaited.hpp"
#include "gateway/sign_in/connect_site.hpp"
#include "gateway/sign_in/gateway_site_host.hpp"
#include "gateway/sign_in/oauth_authorizations.hpp"
#include "gateway/sign_in/sign_in_questions.hpp"
#include "gateway/sign_in/ticket.hpp"

namespace proteus::gateway {

// All that people need to connect upstreams, put together.
class SignInDesk {
 public:
  // Everything outlives it.
  struct Dependencies {
    Gateway& gateway;
    Vault& vault;
    store::Store& store;
    const Clock& clock;
    GatewaySiteHost::FindOperator find_operator;
  };
  // The key follows from the pepper, so that links outlive the process.
  SignInDesk(Dependencies dependencies, SealingKey key);

  ConnectSite& site() { return site_; }
  SignIns& questions() { return questions_; }

  // The URL at which an operator connects an upstream for the gateway itself: to use it for everybody, or where each
  // user connects it, to list it to everybody. Fails where nobody signs in there.
  Result<std::string> url_for_operator(const std::string& upstream, const std::string& who, const std::string& issuer);
  // On any worker's thread.
  Task<Result<Vault::Disconnected>> disconnect(std::string id, std::string who);

 private:
  // A connection came or went: what its owner is listed has changed.
  void changed(const GrantChange& change);

  Gateway& gateway_;
  Vault& vault_;
  Tickets tickets_;
  AwaitedSignIns awaited_;
  OauthAuthorizations authorizations_;
  GatewaySiteHost host_;
  ConnectSite site_;
  SignInQuestions questions_;
};

}  // namespace proteus::gateway
