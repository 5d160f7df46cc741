#pragma once

#include <string_view>

#include "base/log/refusal_log.hpp"
#include "net/http_server/request.hpp"

namespace proteus::net {

// Describes a rejected request for a RefusalLog. Valid as long as the arguments.
inline RefusedRequest refused(const Request& request, RefusalReason reason, std::string_view why,
                              std::string_view principal = {}) {
  return {.reason = reason, .why = why, .peer = request.client(), .path = request.path(), .principal = principal};
}

}  // namespace proteus::net
