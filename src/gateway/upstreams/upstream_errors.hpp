#pragma once

#include <cstdint>
#include <string_view>

#include <proteus/error.hpp>

#include "providers/upstream.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// Whose credentials an upstream gets.
enum class CredentialsOf : std::uint8_t { gateway, caller };

// Returns what a caller learns of a request that failed on its way to an upstream or back: the upstream's name and the
// kind of failure. Addresses, ports and bodies are only for the log and for the operator's status. A JSON-RPC error of
// the upstream itself is passed on.
Error for_caller(Error error, std::string_view upstream, CredentialsOf whose = CredentialsOf::gateway);
Error for_caller(Error error, const providers::Upstream& upstream);
// Logs the whole error and returns what `for_caller` makes of it.
Error log_failure(server::Call& call, const providers::Upstream& upstream, Error error);

}  // namespace proteus::gateway
