#include "gateway/sign_in/person.hpp"

namespace proteus::gateway {

// Only principals of identity providers have a generation of rules. Their key is the issuer and the subject, each on
// its own line.
std::string issuer_of(const Principal& principal) {
  return principal.rules() == 0 ? std::string() : principal.key().substr(0, principal.key().find('\n'));
}

}  // namespace proteus::gateway
