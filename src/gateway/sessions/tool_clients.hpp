#pragma once

#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "net/http_client/http_client.hpp"
#include "net/io/workers.hpp"

namespace proteus::gateway {

// The HTTP clients of session tools, one for each worker. They are separate from the clients of upstreams because the
// trust in hosts of the configuration file must not extend to URLs that a registration names. Must be made before the
// workers run.
class ToolClients {
 public:
  // All references must outlive this object.
  ToolClients(net::Workers& workers, const Clock& clock, const net::HttpClientOptions& options);

  // Returns the client of the calling worker's thread.
  net::HttpClient& here() const;
  // Closes all clients. May be called on any worker's thread, once no tool is called any more.
  Task<> close();

 private:
  net::Workers& workers_;
  std::vector<std::unique_ptr<net::HttpClient>> clients_;
};

}  // namespace proteus::gateway
