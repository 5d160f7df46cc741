#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace proteus::auth {

// Why a token is not accepted. Never quotes the token.
struct Refusal {
  enum class Kind : std::uint8_t {
    invalid_token,       // 401; another token may help
    invalid_dpop_proof,  // 401; another proof may help
    unavailable,         // 503; the token cannot be checked now, but maybe later
  };

  Kind kind;
  std::string reason;                   // for the operator
  std::string_view text;                // for the caller; one of a few, so that the same refusal gives the same bytes
  std::chrono::seconds retry_after{0};  // only if unavailable

  // Returns the error code of OAuth (RFC 6750, section 3.1; RFC 9449, section 7.1).
  std::string_view error_code() const;
};

// All possible refusals, with their texts.
namespace refusals {
Refusal malformed(std::string reason);
Refusal expired(std::string reason);
Refusal unknown_issuer(std::string reason);
Refusal bad_signature(std::string reason);
Refusal other_audience(std::string reason);
Refusal inactive(std::string reason);
Refusal needs_proof(std::string reason);
Refusal bad_proof(std::string reason);
Refusal unavailable(std::string reason, std::chrono::seconds retry_after);
}  // namespace refusals

}  // namespace proteus::auth
