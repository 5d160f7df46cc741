// Fuzzes the check of DPoP proofs: a proof by an unknown key is never accepted. The input is tried as a proof and,
// split at its first line break, as a header and claims.
#include <cstdint>
#include <string>

#include "auth/tokens/dpop.hpp"
#include "base/text/base64.hpp"
#include "check.hpp"

namespace {

namespace auth = proteus::auth;
using proteus::Base64;
using proteus::fuzz::check;

void check_proof(std::string_view text) {
  const auto proof = auth::check_proof(text, {.method = "POST",
                                              .url = "https://gateway.example/mcp",
                                              .token = "token",
                                              // RFC 8037, A.3
                                              .thumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
                                              .now = proteus::Clock::Wall(std::chrono::hours(500'000))});
  check(!proof, "what nobody has signed is refused");
  check(proof.error().kind() == proteus::ErrorKind::unauthenticated, "a refusal is one");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = proteus::fuzz::as_text(data, size);
  check_proof(text);
  if (const std::size_t line = text.find('\n'); line != std::string_view::npos) {
    check_proof(proteus::base64_encode(text.substr(0, line), Base64::url) + "." +
                proteus::base64_encode(text.substr(line + 1), Base64::url) + "." +
                proteus::base64_encode(std::string(64, 's'), Base64::url));
  }
  return 0;
}
