#pragma once

#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "base/secrets/process_key.hpp"
#include "gateway/sign_in/awaited.hpp"
#include "gateway/sign_in/connect_site.hpp"
#include "gateway/sign_in/gateway_site_host.hpp"
#include "gateway/sign_in/oauth_authorizations.hpp"
#include "gateway/sign_in/sign_in_questions.hpp"
#include "gateway/sign_in/ticket.hpp"

namespace proteus::gateway {

// Everything that people need to connect upstreams, wired together.
class SignInDesk {
 public:
  // All references must outlive this object.
  struct Dependencies {
    Gateway& gateway;
    Vault& vault;
    store::Store& store;
    const Clock& clock;
    GatewaySiteHost::FindOperator find_operator;
    ProcessKey process = {};  // of this process in a cluster; empty outside of a cluster
  };
  // `key` must be derived from the pepper, so that links outlive the process.
  SignInDesk(Dependencies dependencies, SealingKey key);

  ConnectSite& site() { return site_; }
  SignIns& questions() { return questions_; }

  // Returns the URL at which an operator connects an upstream for the gateway itself: so that everybody can use it, or,
  // if each user connects it, so that its lists can be shown to everybody. Fails if nobody can sign in there.
  Result<std::string> url_for_operator(const std::string& upstream, const std::string& who, const std::string& issuer);
  // May be called on any worker's thread.
  Task<Result<Vault::Disconnected>> disconnect(std::string id, std::string who);

 private:
  // Called after a connection was made or ended: the lists that its owner sees have changed.
  void changed(const GrantChange& change);
  // Returns whether the ticket's person has connected the ticket's upstream since the ticket was issued.
  bool is_connected(const Ticket& ticket) const;

  Gateway& gateway_;
  Vault& vault_;
  Tickets tickets_;
  AwaitedSignIns awaited_;
  OAuthAuthorizations authorizations_;
  GatewaySiteHost host_;
  ConnectSite site_;
  SignInQuestions questions_;
};

}  // namespace proteus::gateway
