#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace proteus {

// Returns bytes that nobody can guess. Throws if the system has no randomness, without which the program cannot work.
std::string random_bytes(std::size_t count);

// Compares in a time that depends only on the lengths.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// Derives bytes from a master secret and a purpose (HKDF-SHA256). They reveal nothing about the secret or about the
// bytes for another purpose.
std::string derive_bytes(std::string_view master, std::string_view purpose, std::size_t count);

// A key for authenticated encryption (AES-256-GCM). Thread-safe.
class SealingKey {
 public:
  static SealingKey random();
  // Like `derive_bytes`: another purpose gives an unrelated key.
  static SealingKey derive(std::string_view master, std::string_view purpose);

  // Returns nonce, ciphertext and tag. `bound` is not part of the result, but must be the same in `open`.
  std::string seal(std::string_view plain, std::string_view bound) const;
  // Like `seal`, but gives the same result for the same text and `bound`, for texts that must be recognised again.
  // Besides that, it reveals no more than `seal`.
  std::string seal_same(std::string_view plain, std::string_view bound) const;
  // Returns nothing if the sealed text was made with another key or another `bound`, or was altered by as little as a
  // bit.
  std::optional<std::string> open(std::string_view sealed, std::string_view bound) const;

 private:
  std::string seal_with(std::string nonce, std::string_view plain, std::string_view bound) const;

  std::array<std::uint8_t, 32> key_{};
};

}  // namespace proteus
