#pragma once

#include <string_view>

#include <proteus/error.hpp>

#include "providers/upstream.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// What a caller is told of a request that failed on its way to an upstream or back: the upstream's name and the kind of
// failure. Addresses, ports and what bodies said are for the log and for the operator's status. An error that the
// upstream itself answered with in JSON-RPC is passed on.
Error for_caller(Error error, std::string_view upstream);
// The same, after the whole of it went to the log.
Error log_failure(server::Call& call, const providers::Upstream& upstream, Error error);

}  // namespace proteus::gateway
