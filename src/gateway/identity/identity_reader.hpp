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

// What one thread knows about tokens, so that it need not verify them again. Of that thread.
class IdentityReader {
 public:
  explicit IdentityReader(Identities& identities) : identities_(identities), settings_(identities.settings_) {}

  bool are_used() { return !settings_->issuers.empty(); }

  using Found = Identities::Found;
  // Who sends a request with a token, which has this hash, to an endpoint. Nothing where it must be verified first, if
  // it is an issuer's at all: `wait` does.
  std::optional<Found> look(const json::Digest& token, const Credentials& given, const net::Request& request,
                            std::string_view context);
  // How a request without a token is turned away.
  server::Refusal challenge(const net::Request& request, std::string_view context);
  Task<Found> wait(const net::Request& request, std::string_view context);
  // Gives back what has ended or was not used lately.
  void drop_unused();
  std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    auth::IdentityPointer identity;
    std::shared_ptr<const Principal> principal;
    std::uint64_t generation = 0;
    std::optional<std::string> context;  // the endpoint that it was last used at
  };
  static constexpr std::size_t kMost = 100'000;

  Found use(Known& known, const Credentials& given, const net::Request& request, std::string_view context);

  Identities& identities_;
  Published<Identities::Settings>::Reader settings_;
  auth::KeptByToken<Known> known_{kMost};
};

}  // namespace proteus::gateway
