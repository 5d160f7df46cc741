#include "gateway/sign_in/person.hpp"

namespace proteus::gateway {

// Their key is the issuer and the subject, each on its line; a generation of rules is what only they have.
std::string issuer_of(const Principal& principal) {
  return principal.rules() == 0 ? std::string() : principal.key().substr(0, principal.key().find('\n'));
}

}  // namespace proteus::gateway
