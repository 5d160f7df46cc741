#pragma once

#include <string>
#include <string_view>

#include "base/secrets/sealing.hpp"
#include "base/strong.hpp"
#include "base/text/base64.hpp"

namespace proteus {

// Identifies one start of one process in what is sealed and carried by clients. As short as possible without
// collisions: eight bytes. Empty for none.
using ProcessKey = Strong<std::string, struct ProcessKeyTag>;

inline constexpr std::size_t kProcessKeyBytes = 8;

// Derives the key from the name of the process, which is new at each start.
inline ProcessKey process_key_of(std::string_view name) {
  return ProcessKey(derive_bytes(name, "process", kProcessKeyBytes));
}

// The key of no process, for fields that must contain a key.
inline ProcessKey nobody() { return ProcessKey(std::string(kProcessKeyBytes, '\0')); }

// Length of a key in texts, which consists of letters, digits, '-' and '_'.
inline constexpr std::size_t kProcessKeyText = 11;
inline std::string to_text(const ProcessKey& key) { return base64_encode(key.value(), Base64::url); }
// Returns the key that a text of at least kProcessKeyText characters begins with; empty if it does not begin with a
// key.
inline ProcessKey read_process_key(std::string_view text) {
  return ProcessKey(base64_decode(text.substr(0, kProcessKeyText), Base64::url).value_or(std::string()));
}

}  // namespace proteus
