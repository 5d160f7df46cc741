#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/tokens/algorithm.hpp"

// `WWW-Authenticate`: written for our callers, read from other servers.
namespace proteus::auth {

struct ChallengeText {
  std::string_view error = {};        // of OAuth; empty if the request had no credentials
  std::string_view description = {};  // for the caller's developer; never any part of a token
  std::span<const std::string> scopes = {};
  std::string_view resource_metadata = {};          // a URL
  std::span<const Algorithm> dpop_algorithms = {};  // if any, a DPoP challenge follows the one for Bearer
};

// Returns one value for the field. It begins with Bearer; the same refusal gives the same bytes. Leaves out characters
// that a quoted text cannot contain, and the scope `offline_access`.
std::string write_challenge(const ChallengeText& challenge);

struct Challenge {
  std::string scheme;                                                // as received
  std::vector<std::pair<std::string, std::string>> parameters = {};  // names in lower case; the first of a name counts

  bool is(std::string_view name) const;  // compares the scheme, ignoring case
  // Returns an empty text if there is no such parameter. The name must be in lower case.
  std::string_view find(std::string_view parameter) const;
};

inline constexpr std::size_t kMaxChallengeBytes = std::size_t{16} * 1024;

// Parses the challenges of one field (RFC 9110, section 11.6.1). Stops at the first error and returns what was read
// before it; nothing for a field of more than kMaxChallengeBytes.
std::vector<Challenge> read_challenges(std::string_view field);

}  // namespace proteus::auth
