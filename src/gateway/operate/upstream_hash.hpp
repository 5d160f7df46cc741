#pragma once

#include <string>

#include "providers/upstream_entry.hpp"

namespace proteus::gateway {

// Of the file's own keys: what the defaults say does not make it another entry.
std::string hash_of(const providers::UpstreamEntry& entry);

}  // namespace proteus::gateway
