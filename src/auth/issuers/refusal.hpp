#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace proteus::auth {

// Why a token is not accepted. Nothing in it quotes the token.
struct Refusal {
  enum class Kind : std::uint8_t {
    invalid_token,       // 401; another token may help
    invalid_dpop_proof,  // 401; another proof may help
    unavailable,         // 503: it cannot be checked now; later may work
  };

  Kind kind;
  std::string reason;                   // for the operator
  std::string_view text;                // for the caller; one of a few, so that the same refusal has the same bytes
  std::chrono::seconds retry_after{0};  // where it is unavailable

  // What OAuth calls it (RFC 6750, 3.1; RFC 9449, 7.1).
  std::string_view error_code() const;
};

// The refusals that there are, with their text.
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
