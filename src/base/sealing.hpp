#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace proteus {

// Bytes nobody can guess. Throws if the system has no randomness, which nothing can go on without.
std::string random_bytes(std::size_t count);

// Compares in a time that depends on the lengths only.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// Bytes that follow from a master secret and a purpose (HKDF-SHA256), and say nothing about the secret or about what
// follows for another purpose.
std::string derive_bytes(std::string_view master, std::string_view purpose, std::size_t count);

// A key for authenticated encryption (AES-256-GCM). Safe to use from several threads.
class SealingKey {
 public:
  static SealingKey random();
  // As `derive_bytes`: another purpose gives an unrelated key.
  static SealingKey derive(std::string_view master, std::string_view purpose);

  // Nonce, ciphertext and tag. `bound` is not in it, but must be the same to open it.
  std::string seal(std::string_view plain, std::string_view bound) const;
  // The same for the same text each time, for what must be recognised again; it tells that two texts are equal, and
  // nothing else of them.
  std::string seal_same(std::string_view plain, std::string_view bound) const;
  // Nothing where the sealed text was made with another key or another `bound`, or changed by a bit.
  std::optional<std::string> open(std::string_view sealed, std::string_view bound) const;

 private:
  std::string seal_with(std::string nonce, std::string_view plain, std::string_view bound) const;

  std::array<std::uint8_t, 32> key_{};
};

}  // namespace proteus
