#pragma once

#include <memory>

#include "client/message/options.hpp"
#include "client/message/transport.hpp"

namespace boost::asio {
class io_context;
}

namespace proteus::client {

// Makes a transport that starts a program and talks to it over its standard streams, one message per line. A line that
// is not a message is logged and ignored. The program ends with the transport, which does not restart it.
std::unique_ptr<Transport> stdio_transport(boost::asio::io_context& io, net::Command command, const Options& options,
                                           Inbox& inbox);

}  // namespace proteus::client
