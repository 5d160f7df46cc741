#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "auth/issuers/kept_by_token.hpp"
#include "gateway/identity/identities.hpp"

namespace proteus::gateway {

// One thread's cache of verified tokens. Belongs to that thread.
class IdentityReader {
 public:
  explicit IdentityReader(Identities& identities) : identities_(identities), settings_(identities.settings_) {}

  bool are_used() { return !settings_->issuers.empty(); }

  using Found = Identities::Found;
  // Returns the principal of a request to an endpoint, or the request's rejection, if the token with this hash is
  // cached. Otherwise returns nothing: `wait` verifies the token, if it is from an issuer at all.
  std::optional<Found> look(const json::Digest& token, const Credentials& given, const net::Request& request,
                            std::string_view context);
  // Returns the rejection of a request without a known token.
  server::Refusal challenge(const net::Request& request, std::string_view context);
  Task<Found> wait(const net::Request& request, std::string_view context);
  // Drops tokens that have expired or were not used lately.
  void drop_unused();
  std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    auth::IdentityPointer identity;
    std::shared_ptr<const Principal> principal;
    std::uint64_t generation = 0;
    std::optional<std::string> context;  // context of the last use
  };
  static constexpr std::size_t kMost = 100'000;

  Found use(Known& known, const Credentials& given, const net::Request& request, std::string_view context);

  Identities& identities_;
  Published<Identities::Settings>::Reader settings_;
  auth::KeptByToken<Known> known_{kMost};
};

}  // namespace proteus::gateway
