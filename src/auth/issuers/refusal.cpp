#include "auth/issuers/refusal.hpp"

#include <utility>

namespace proteus::auth {

std::string_view Refusal::error_code() const {
  switch (kind) {
    case Kind::invalid_token: return "invalid_token";
    case Kind::invalid_dpop_proof: return "invalid_dpop_proof";
    case Kind::unavailable: return "temporarily_unavailable";
  }
  return "";
}

namespace refusals {
namespace {

Refusal invalid(std::string reason, std::string_view text) {
  return {.kind = Refusal::Kind::invalid_token, .reason = std::move(reason), .text = text};
}

}  // namespace

Refusal malformed(std::string reason) { return invalid(std::move(reason), "The access token is malformed"); }
Refusal expired(std::string reason) { return invalid(std::move(reason), "The access token is not valid at this time"); }
Refusal unknown_issuer(std::string reason) {
  return invalid(std::move(reason), "The access token comes from an issuer that is not accepted here");
}
Refusal bad_signature(std::string reason) {
  return invalid(std::move(reason), "The signature of the access token cannot be verified");
}
Refusal other_audience(std::string reason) {
  return invalid(std::move(reason), "The access token is not for this resource");
}
Refusal inactive(std::string reason) { return invalid(std::move(reason), "The access token is not active"); }
Refusal needs_proof(std::string reason) {
  return invalid(std::move(reason), "The access token must be sent with a DPoP proof of the key it is bound to");
}
Refusal bad_proof(std::string reason) {
  return {.kind = Refusal::Kind::invalid_dpop_proof,
          .reason = std::move(reason),
          .text = "The DPoP proof is not valid for this request"};
}
Refusal unavailable(std::string reason, std::chrono::seconds retry_after) {
  return {.kind = Refusal::Kind::unavailable,
          .reason = std::move(reason),
          .text = "The access token cannot be verified at the moment",
          .retry_after = retry_after};
}

}  // namespace refusals
}  // namespace proteus::auth
