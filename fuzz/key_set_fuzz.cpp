// Fuzzes the reader of issuers' key sets: every key that is kept is usable, and does not verify a meaningless
// signature.
#include <cstdint>
#include <string>

#include "auth/tokens/key_set.hpp"
#include "check.hpp"

namespace {

namespace auth = proteus::auth;
using proteus::fuzz::boost_opinion;
using proteus::fuzz::check;

bool fits_any(const auth::PublicKey& key) {
  for (const auto algorithm : auth::kAlgorithms) {
    if (key.fits(algorithm)) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = proteus::fuzz::as_text(data, size);
  const auto set = auth::KeySet::parse(text);
  if (!set) return 0;
  const auto opinion = boost_opinion(text);
  check(opinion.value.has_value(), "what is read is JSON for others");
  const std::size_t listed = opinion.value->at("keys").as_array().size();
  check(set->keys().size() + set->left_out() <= listed, "no key comes from nowhere");
  for (const auth::IssuerKey& key : set->keys()) {
    check(fits_any(key.key), "a key that is kept is of use");
    check(!key.algorithm || key.key.fits(*key.algorithm), "a key fits what it is for");
    check(key.key.thumbprint().size() == 43, "a thumbprint is a SHA-256 in base64url");
    for (const auto algorithm : auth::kAlgorithms) {
      check(set->find(key.id, algorithm).size() <= auth::KeySet::kMaxTries, "few keys are tried");
      check(key.key.kind() == auth::KeyKind::ed25519 || !key.key.verifies(algorithm, "text", std::string(64, '\1')),
            "nonsense is no signature");
    }
  }
  return 0;
}
