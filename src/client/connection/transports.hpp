#pragma once

#include "client/connection/connection.hpp"
#include "client/message/options.hpp"
#include "net/http_client/http_client.hpp"

namespace boost::asio {
class io_context;
}

namespace proteus::client {

// The transports that reach an endpoint. The context and the HTTP client must outlive the connection, and
// belong to its thread.
MakerFactory transports_to(Endpoint endpoint, boost::asio::io_context& io, net::HttpClient& http);

}  // namespace proteus::client
