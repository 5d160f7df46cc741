#pragma once

#include <string>
#include <string_view>

#include "base/base64.hpp"
#include "base/sealing.hpp"
#include "base/strong.hpp"

namespace proteus {

// One start of one process, in what is sealed and carried by clients: as short as it can be without two meeting. Eight
// bytes; empty for none.
using ProcessKey = Strong<std::string, struct ProcessKeyTag>;

inline constexpr std::size_t kProcessKeyBytes = 8;

// It follows from the name of the process, which is new at each start.
inline ProcessKey process_key_of(std::string_view name) {
  return ProcessKey(derive_bytes(name, "process", kProcessKeyBytes));
}

// The key of no process, where there has to be one.
inline ProcessKey nobody() { return ProcessKey(std::string(kProcessKeyBytes, '\0')); }

// As it stands in texts: letters, digits, '-' and '_', always as many.
inline constexpr std::size_t kProcessKeyText = 11;
inline std::string to_text(const ProcessKey& key) { return base64_encode(key.value(), Base64::url); }
// The one that a text begins with; empty where it begins with none.
inline ProcessKey read_process_key(std::string_view text) {
  return ProcessKey(base64_decode(text.substr(0, kProcessKeyText), Base64::url).value_or(std::string()));
}

}  // namespace proteus
