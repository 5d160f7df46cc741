#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

#include "base/task.hpp"

namespace proteus::client {

// Who provides the credentials of HTTP requests to one server. They are sent to the server's own origin only.
// Called on the connection's thread; may be shared between connections of one thread.
class Authorizer {
 public:
  virtual ~Authorizer() = default;

  // The headers to send with a request, such as `Authorization`.
  virtual Task<Result<std::vector<std::pair<std::string, std::string>>>> headers() = 0;

  // The server answered 401 or 403, with this `WWW-Authenticate` (or none). True where other credentials are
  // there now: the request is sent once more.
  virtual Task<Result<bool>> refused(int status, std::string_view challenge) = 0;
};

}  // namespace proteus::client
