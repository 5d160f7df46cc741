#pragma once

#include "client/connection/connection.hpp"
#include "client/message/options.hpp"
#include "net/http_client/http_client.hpp"

namespace boost::asio {
class io_context;
}

namespace proteus::client {

// Returns a factory of makers of the transports that reach an endpoint. `io` and `http` must outlive the connection and
// belong to its thread.
MakerFactory transports_to(Endpoint endpoint, boost::asio::io_context& io, net::HttpClient& http);

}  // namespace proteus::client
