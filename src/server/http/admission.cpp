#include "server/http/admission.hpp"

namespace proteus::server {

Refusal::Refusal(Error why) : error(std::move(why)) {
  if (error.kind() == ErrorKind::not_found) {
    status = 404;
  } else {
    challenge = "Bearer";
  }
}

Refusal::Refusal(unsigned number, Error why, std::string how)
    : status(number), error(std::move(why)), challenge(std::move(how)) {}

}  // namespace proteus::server
