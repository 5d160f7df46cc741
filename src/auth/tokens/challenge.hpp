#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/tokens/algorithm.hpp"

// `WWW-Authenticate`, written for our callers and read from others' servers.
namespace proteus::auth {

struct ChallengeText {
  std::string_view error = {};        // of OAuth; none where no credentials came
  std::string_view description = {};  // for the caller's developer; never anything of a token
  std::span<const std::string> scopes = {};
  std::string_view resource_metadata = {};          // a URL
  std::span<const Algorithm> dpop_algorithms = {};  // adds a DPoP challenge behind the one for Bearer
};

// One value for the field. Begins with Bearer; the same bytes for the same refusal. Characters that a quoted text
// cannot have are left out, and `offline_access` is never among the scopes.
std::string write_challenge(const ChallengeText& challenge);

struct Challenge {
  std::string scheme;                                                // as written
  std::vector<std::pair<std::string, std::string>> parameters = {};  // names in lower case; the first of a name counts

  bool is(std::string_view name) const;  // of the scheme, in any case
  // Empty where there is none.
  std::string_view find(std::string_view parameter) const;
};

inline constexpr std::size_t kMaxChallengeBytes = std::size_t{16} * 1024;

// The challenges of one field (RFC 9110, 11.6.1). What cannot be read ends the reading; what came before it counts.
std::vector<Challenge> read_challenges(std::string_view field);

}  // namespace proteus::auth
