#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <proteus/error.hpp>

#include "base/clock.hpp"

namespace proteus::auth {

// What an issuer states about a caller: the claims of a token, or the answer of an introspection. Immutable. Times that
// a clock cannot express become the nearest that it can, within two centuries of 1970.
class Claims {
 public:
  // Maximum number of values of one claim that `values` returns.
  static constexpr std::size_t kMaxValues = 65536;

  // Fails if a claim that is read here has the wrong type or is too long, or if the token is bound to something other
  // than a DPoP key.
  static Result<Claims> read(boost::json::object claims);

  const std::string& issuer() const { return issuer_; }
  // `sub`, or the client id if there is no `sub`.
  const std::string& subject() const { return subject_; }
  // `aud`, which may be a text or a list.
  const std::vector<std::string>& audiences() const { return audiences_; }
  const std::optional<Clock::Wall>& expires() const { return expires_; }
  const std::optional<Clock::Wall>& not_before() const { return not_before_; }
  const std::optional<Clock::Wall>& issued_at() const { return issued_at_; }
  // The scopes of `scope` and `scp`, each a text or a list; in order, without duplicates.
  const std::vector<std::string>& scopes() const { return scopes_; }
  // `client_id`, or `azp`.
  const std::string& client() const { return client_; }
  // `cnf.jkt`: the thumbprint of the key that the token is bound to; empty if it is not bound.
  const std::string& key_thumbprint() const { return key_thumbprint_; }

  // Returns the values of any claim, for rules: texts unchanged, numbers and booleans as text, and for a list the
  // values of its items. A path leads into objects: "realm_access.roles". A claim whose own name has dots is found by
  // its name. `scope` and `scp` both give the scopes. Linear in the size of the claim.
  std::vector<std::string> values(std::string_view path) const;
  const boost::json::object& all() const { return all_; }

 private:
  Claims() = default;
  Result<> read_names();
  Result<> read_times();
  Result<> read_scopes();
  Result<> read_binding();

  boost::json::object all_;
  std::string issuer_;
  std::string subject_;
  std::vector<std::string> audiences_;
  std::optional<Clock::Wall> expires_;
  std::optional<Clock::Wall> not_before_;
  std::optional<Clock::Wall> issued_at_;
  std::vector<std::string> scopes_;
  std::string client_;
  std::string key_thumbprint_;
};

// Returns whether one of the token's audiences is in `accepted`. Compares byte by byte.
bool is_for(const Claims& claims, std::span<const std::string> accepted);

// Fails if the token has expired, is not valid yet, or was issued in the future. Times that are absent pass.
Result<> check_times(const Claims& claims, Clock::Wall now, std::chrono::milliseconds leeway);

// Checks what every usable token must have: exactly this issuer, a subject or client, an expiry, and valid times.
Result<> check_claims(const Claims& claims, std::string_view issuer, Clock::Wall now, std::chrono::milliseconds leeway);

}  // namespace proteus::auth
