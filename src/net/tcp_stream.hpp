#pragma once

#include "net/stream.hpp"
#include "net/tcp_socket.hpp"

namespace proteus::net {

// Takes a connected socket. Sets TCP_NODELAY, because every write is a whole answer or event.
Stream tcp_stream(TcpSocket socket);

}  // namespace proteus::net
