#pragma once

#include <memory>

#include "client/message/options.hpp"
#include "client/message/transport.hpp"

namespace boost::asio {
class io_context;
}

namespace proteus::client {

// A program that is started and spoken to over its standard streams, one message per line. A line that is no
// message is logged and ignored; the program ends with the transport, and is not restarted by it.
std::unique_ptr<Transport> stdio_transport(boost::asio::io_context& io, net::Command command, const Options& options,
                                           Inbox& inbox);

}  // namespace proteus::client
