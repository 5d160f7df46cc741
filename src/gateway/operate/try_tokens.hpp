#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <proteus/error.hpp>

#include "base/published.hpp"
#include "base/secrets/sealing.hpp"
#include "base/secrets/secret.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/operate/viewpoint.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// Short-lived tokens with which an operator tries what somebody may use. They have the rules of a principal, but
// nothing that is kept for it, such as its sessions and its connections to upstreams. Each is in the audit before it
// works. A token carries, sealed, what it is for, so that every process that shares the pepper admits it.
//
// Thread-safe. Must be made before anything is served, and must outlive the gateway's requests.
class TryTokens {
 public:
  static constexpr std::chrono::minutes kLifetime{5};
  static constexpr std::size_t kMost = 1000;  // at the same time

  // `gateway` and `store` must outlive this object.
  TryTokens(Gateway& gateway, store::Store& store, SealingKey key);
  TryTokens(const TryTokens&) = delete;
  TryTokens& operator=(const TryTokens&) = delete;

  struct Issued {
    Secret secret;  // not kept anywhere
    std::shared_ptr<const Principal> principal;
  };
  // `who` is the name of the admin key.
  Task<Result<Issued>> issue(Whom whom, std::string who);
  // Removes expired tokens and ends everything that was opened with them. Called every few seconds.
  void end_expired(Clock::Wall now);

 private:
  using PrincipalPointer = std::shared_ptr<const Principal>;
  using Table = std::unordered_map<json::Digest, PrincipalPointer, DigestHash>;
  struct Content;

  PrincipalPointer find(std::string_view token, const json::Digest& hash);
  Result<PrincipalPointer> make_principal(const Content& content, const json::Digest& hash) const;
  // Returns the principal that the table has for the token from now on.
  Result<PrincipalPointer> put(PrincipalPointer principal);

  Gateway& gateway_;
  store::Store& store_;
  const SealingKey key_;
  std::mutex changing_;
  Published<Table> table_{std::make_shared<const Table>()};
};

}  // namespace proteus::gateway
