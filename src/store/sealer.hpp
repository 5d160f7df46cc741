#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/sealing.hpp"
#include "store/pepper.hpp"

namespace proteus::store {

enum class SealedWith : std::uint8_t { current, previous };

struct Opened {
  std::string plain;
  SealedWith with = SealedWith::current;
};

// Seals secrets for their rest on a disk. What is sealed names its format and its key, so that a key can be told from a
// damage, and old keys from the current one. Safe to use from several threads.
class Sealer {
 public:
  explicit Sealer(const Pepper& current, const std::optional<Pepper>& previous = std::nullopt);

  // `bound` says what the secret belongs to: it must be the same to open it, so that nobody can move a secret to
  // another record.
  std::string seal(std::string_view plain, std::string_view bound) const;

  // Hashes something secret, such as another hash, so that nobody without the key can try what it was. With the current
  // key, then with the previous one where there is one.
  std::vector<std::string> keyed_hashes(std::string_view text) const;

  Result<Opened> open(std::string_view sealed, std::string_view bound) const;

 private:
  struct Key {
    explicit Key(const Pepper& pepper);
    SealingKey key;
    std::string id;
    std::string hashing;
  };

  Key current_;
  std::optional<Key> previous_;
};

}  // namespace proteus::store
