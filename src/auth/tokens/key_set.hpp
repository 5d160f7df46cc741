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

// A key of an issuer, with what the issuer says about it.
struct IssuerKey {
  PublicKey key;
  std::string id;                                     // `kid`; empty for none
  std::optional<Algorithm> algorithm = std::nullopt;  // the only one that it is for, where that is said
};

// The keys of an issuer (RFC 7517, 5). Immutable.
class KeySet {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{256} * 1024;
  static constexpr std::size_t kMaxKeys = 128;
  // How many keys a signature is tried with, where the token names none, or several have its name.
  static constexpr std::size_t kMaxTries = 8;

  KeySet() = default;
  // Keys that are not for checking signatures, or that are not understood, are left out and counted; one that is there
  // twice counts once. Fails where the text is no key set, or has more keys than allowed.
  static Result<KeySet> parse(std::string_view text);

  // The keys that may have signed: those of the name, or all where the name is empty, that fit the algorithm. At most
  // kMaxTries. Names are compared and nothing else is done with them.
  std::vector<const IssuerKey*> find(std::string_view id, Algorithm algorithm) const;

  const std::vector<IssuerKey>& keys() const { return keys_; }
  std::size_t left_out() const { return left_out_; }

 private:
  std::vector<IssuerKey> keys_;
  std::size_t left_out_ = 0;
};

}  // namespace proteus::auth
