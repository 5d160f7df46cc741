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

// What an issuer says about a caller: the claims of a token, or the answer of an introspection. Immutable. Times that a
// clock cannot express are the nearest that it can, within two centuries of 1970.
class Claims {
 public:
  // How many values of one claim count.
  static constexpr std::size_t kMaxValues = 65536;

  // Fails where a claim that is known here has the wrong type.
  static Result<Claims> read(boost::json::object claims);

  const std::string& issuer() const { return issuer_; }
  // `sub`, or the client's id where there is none.
  const std::string& subject() const { return subject_; }
  // `aud`, which may be a text or a list.
  const std::vector<std::string>& audiences() const { return audiences_; }
  const std::optional<Clock::Wall>& expires() const { return expires_; }
  const std::optional<Clock::Wall>& not_before() const { return not_before_; }
  const std::optional<Clock::Wall>& issued_at() const { return issued_at_; }
  // Of `scope` and `scp`, each a text or a list; in their order, without repetitions.
  const std::vector<std::string>& scopes() const { return scopes_; }
  // `client_id`, or `azp`.
  const std::string& client() const { return client_; }
  // `cnf.jkt`: the thumbprint of the key that the token is bound to; empty for none.
  const std::string& key_thumbprint() const { return key_thumbprint_; }
  // `jti`
  const std::string& id() const { return id_; }

  // The values of any claim, for rules: texts as they are, numbers and booleans as text, of a list each of these. A
  // path leads into objects: "realm_access.roles". A claim whose own name has dots is found by its name. `scope` and
  // `scp` are the scopes. Linear in the claim.
  std::vector<std::string> values(std::string_view path) const;
  bool has(std::string_view name) const { return all_.contains(name); }
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
  std::string id_;
};

// Whether one of a token's audiences is accepted. They are compared byte by byte.
bool is_for(const Claims& claims, std::span<const std::string> accepted);

// Whether the times that are there are sound: the end has not come, and neither the beginning nor the making is in the
// future.
Result<> check_times(const Claims& claims, Clock::Wall now, std::chrono::milliseconds leeway);

// What all must be right for a token to be used: the very issuer, somebody it speaks for, an end, and its times.
Result<> check_claims(const Claims& claims, std::string_view issuer, Clock::Wall now, std::chrono::milliseconds leeway);

}  // namespace proteus::auth
