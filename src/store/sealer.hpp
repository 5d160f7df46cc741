#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/secrets/sealing.hpp"
#include "store/pepper.hpp"

namespace proteus::store {

enum class SealedWith : std::uint8_t { current, previous };

struct Opened {
  std::string plain;
  SealedWith with = SealedWith::current;
};

// Seals secrets that are stored on a disk. A sealed text names its format and its key, so that `open` can tell a
// missing key from damage, and a text of the previous key from one of the current key. Thread-safe.
class Sealer {
 public:
  explicit Sealer(const Pepper& current, const std::optional<Pepper>& previous = std::nullopt);

  // `bound` names the record that the secret belongs to. It must be the same in `open`, so that nobody can move a
  // secret to another record.
  std::string seal(std::string_view plain, std::string_view bound) const;

  // Hashes a secret, such as another hash, so that nobody without the key can guess it by trial. Returns the hash with
  // the current key, then the one with the previous key if there is one.
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
