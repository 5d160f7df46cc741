#pragma once

#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "net/http_client/http_client.hpp"
#include "net/io/workers.hpp"

namespace proteus::gateway {

// The HTTP clients of session tools, one for each worker: apart from those for upstreams, because hosts that the
// configuration file trusts are not to be asked on a registration's word. Made before the workers run.
class ToolClients {
 public:
  // Everything outlives it.
  ToolClients(net::Workers& workers, const Clock& clock, const net::HttpClientOptions& options);

  // That of the worker whose thread this is.
  net::HttpClient& here() const;
  // On any worker's thread, when nothing is called any more.
  Task<> close();

 private:
  net::Workers& workers_;
  std::vector<std::unique_ptr<net::HttpClient>> clients_;
};

}  // namespace proteus::gateway
