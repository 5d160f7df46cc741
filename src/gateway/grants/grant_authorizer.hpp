#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/oauth/discovery.hpp"
#include "auth/oauth/scopes.hpp"
#include "base/secrets/secret.hpp"
#include "client/message/authorizer.hpp"
#include "gateway/grants/vault.hpp"

namespace proteus::gateway {

// Whose token is wanted, and for what: the same for all requests of a caller to an upstream. Immutable.
struct GrantSeeker {
  GrantKey key;
  Secret caller_token = {};  // the caller's own token, for grants that are obtained with it
};

// Gives requests to an upstream the tokens of one owner, and of nobody else. A token that the upstream refuses is
// refreshed, and the request is sent again. If the token's scopes do not suffice, the request is not sent again: its
// sender asks the owner to sign in. Thread-safe; the vault must outlive it.
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

  // Why an upstream wants its user to sign in.
  struct Missing {
    auth::oauth::Scopes scopes = {};  // to request; empty if none are missing
    std::string challenge = {};
    // Why there is no token to send, or why nobody is asked for the scopes that its token lacks; nothing otherwise. For
    // the caller if it is about the caller's access.
    std::optional<Error> why = {};
  };
  // Returns what was noted since the last call, and forgets it.
  Missing take_missing();

 private:
  Vault::Wanted wanted() const;
  Task<Result<GrantPointer>> usable(Vault::Wanted wanted);
  void note_why(std::optional<Error> why);
  Headers headers_of(const Grant& grant, std::string_view method, const net::Url& url) const;
  Result<bool> note_scopes(const auth::oauth::ChallengeHints& hints, std::string_view challenge, const Grant& grant);

  Vault& vault_;
  const std::shared_ptr<const GrantSeeker> seeker_;
  std::mutex mutex_;
  Missing missing_;
};

}  // namespace proteus::gateway
