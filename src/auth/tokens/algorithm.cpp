#include "auth/tokens/algorithm.hpp"

namespace proteus::auth {

std::string_view to_string(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::rs256: return "RS256";
    case Algorithm::ps256: return "PS256";
    case Algorithm::es256: return "ES256";
    case Algorithm::es384: return "ES384";
    case Algorithm::eddsa: return "EdDSA";
  }
  return "";
}

std::optional<Algorithm> algorithm_of(std::string_view name) {
  for (const Algorithm algorithm : kAlgorithms) {
    if (to_string(algorithm) == name) return algorithm;
  }
  return std::nullopt;
}

}  // namespace proteus::auth
