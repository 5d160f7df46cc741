#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <proteus/error.hpp>

#include "base/published.hpp"
#include "base/secret.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/operate/viewpoint.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// Tokens by which an operator tries what somebody may use, for a few minutes: they have the rules of a principal and
// nothing that is kept for it, such as its sessions and its connections to upstreams. Each is in the audit before it
// works. They end with the process.
//
// Thread-safe. Made before anything is asked; outlives the gateway's requests.
class TryTokens {
 public:
  static constexpr std::chrono::minutes kLifetime{5};
  static constexpr std::size_t kMost = 1000;  // at a time

  // Both outlive it.
  TryTokens(Gateway& gateway, store::Store& store);
  TryTokens(const TryTokens&) = delete;
  TryTokens& operator=(const TryTokens&) = delete;

  struct Issued {
    Secret secret;  // not kept anywhere
    std::shared_ptr<const Principal> principal;
  };
  // `who` is the name of the admin key.
  Task<Result<Issued>> issue(Whom whom, std::string who);
  // Every few seconds: ends what has expired, and what its holders have open.
  void end_expired(Clock::Wall now);

 private:
  using Table = std::unordered_map<json::Digest, std::shared_ptr<const Principal>, DigestHash>;

  std::shared_ptr<const Principal> find(const json::Digest& token) const;
  Result<> put(std::shared_ptr<const Principal> principal);

  Gateway& gateway_;
  store::Store& store_;
  std::mutex changing_;
  Published<Table> table_{std::make_shared<const Table>()};
};

}  // namespace proteus::gateway
