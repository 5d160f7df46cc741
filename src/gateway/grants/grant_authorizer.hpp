#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/oauth/scopes.hpp"
#include "base/secret.hpp"
#include "client/message/authorizer.hpp"
#include "gateway/grants/vault.hpp"

namespace proteus::gateway {

// Gives requests to an upstream the tokens of one owner, and of nobody else. A token that is refused is refreshed, and
// the request sent again; one whose scopes do not suffice is not: whoever sent the request asks its owner. Thread-safe;
// the vault outlives it.
// Whose token is wanted, and for what: the same for each request of a caller to an upstream. Immutable.
struct GrantSeeker {
  GrantKey key;
  Secret caller_token = {};  // what the caller came with, for grants that are obtained by it
};

class GrantAuthorizer final : public client::Authorizer {
 public:
  GrantAuthorizer(Vault& vault, std::shared_ptr<const GrantSeeker> seeker)
      : vault_(vault), seeker_(std::move(seeker)) {}
  GrantAuthorizer(Vault& vault, GrantOwner owner, GrantTarget target)
      : GrantAuthorizer(vault, std::make_shared<const GrantSeeker>(GrantKey(std::move(owner), std::move(target)))) {}

  using Headers = std::vector<client::Header>;
  Task<Result<Headers>> headers(std::string_view method, const net::Url& url) override;
  client::ReadyHeaders::Pointer headers_now(std::string_view method, const net::Url& url) override;
  Task<Result<bool>> refused(client::Refusal refusal) override;
  void accepted(std::string_view dpop_nonce) override;

  // What an upstream wants its user to sign in for.
  struct Missing {
    auth::oauth::Scopes scopes = {};  // more than the grant has; none where there is no grant
    std::string challenge = {};
  };
  // Since the last request.
  Missing take_missing();

 private:
  Vault::Wanted wanted() const;
  Headers headers_of(const Grant& grant, std::string_view method, const net::Url& url) const;
  Result<bool> note_scopes(const client::Refusal& refusal, const Grant& grant);

  Vault& vault_;
  const std::shared_ptr<const GrantSeeker> seeker_;
  std::mutex mutex_;
  Missing missing_;
};

}  // namespace proteus::gateway
