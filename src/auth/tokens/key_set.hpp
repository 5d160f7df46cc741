#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "auth/tokens/algorithm.hpp"
#include "auth/tokens/public_key.hpp"

namespace proteus::auth {

// A key of an issuer, with what the issuer states about it.
struct IssuerKey {
  PublicKey key;
  std::string id;                                     // `kid`; empty if it has none
  std::optional<Algorithm> algorithm = std::nullopt;  // the only algorithm that the key is for, if the issuer names one
};

// The keys of an issuer (RFC 7517, section 5). Immutable.
class KeySet {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{256} * 1024;
  static constexpr std::size_t kMaxKeys = 128;
  // Maximum number of keys that a signature is tried with, if the token names no key or several keys have its name.
  static constexpr std::size_t kMaxTries = 8;

  KeySet() = default;
  // Leaves out and counts keys that are not for verifying signatures or not understood; keeps only one of equal keys.
  // Fails if the text is not a key set, is too large or has more than kMaxKeys keys.
  static Result<KeySet> parse(std::string_view text);

  // Returns at most kMaxTries keys that may have signed: those named `id`, or all if `id` is empty, that fit the
  // algorithm. Names are only compared, never interpreted. The pointers are valid as long as the set.
  std::vector<const IssuerKey*> find(std::string_view id, Algorithm algorithm) const;

  const std::vector<IssuerKey>& keys() const { return keys_; }
  std::size_t left_out() const { return left_out_; }

 private:
  std::vector<IssuerKey> keys_;
  std::size_t left_out_ = 0;
};

}  // namespace proteus::auth
