#pragma once

#include <string>

#include "providers/upstream_entry.hpp"

namespace proteus::gateway {

// Returns a hash of the entry's own keys, which a change of `[defaults.upstream]` leaves unchanged.
std::string hash_of(const providers::UpstreamEntry& entry);

}  // namespace proteus::gateway
