#pragma once

#include <mutex>
#include <optional>
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
class GrantAuthorizer final : public client::Authorizer {
 public:
  // `caller_token` is what the caller came with, for grants that are obtained by it.
  GrantAuthorizer(Vault& vault, GrantOwner owner, GrantTarget target, Secret caller_token = {})
      : vault_(vault), owner_(std::move(owner)), target_(std::move(target)), caller_token_(std::move(caller_token)) {}

  using Headers = std::vector<std::pair<std::string, std::string>>;
  Task<Result<Headers>> headers(std::string_view method, const net::Url& url) override;
  std::optional<Headers> headers_now(std::string_view method, const net::Url& url) override;
  Task<Result<bool>> refused(client::Refusal refusal) override;
  void accepted(std::string_view dpop_nonce) override;

  const GrantOwner& owner() const { return owner_; }
  const GrantTarget& target() const { return target_; }

  // What an upstream wants its user to sign in for.
  struct Missing {
    auth::oauth::Scopes scopes = {};  // more than the grant has; none where there is no grant
    std::string challenge = {};
  };
  // Since the last request.
  Missing take_missing();

 private:
  Headers headers_of(const Grant& grant, std::string_view method, const net::Url& url) const;
  Result<bool> note_scopes(const client::Refusal& refusal, const Grant& grant);

  Vault& vault_;
  const GrantOwner owner_;
  const GrantTarget target_;
  const Secret caller_token_;
  std::mutex mutex_;
  Missing missing_;
};

}  // namespace proteus::gateway
