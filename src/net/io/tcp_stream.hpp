#pragma once

#include "net/io/stream.hpp"
#include "net/io/tcp_socket.hpp"

namespace proteus::net {

// Makes a stream of a connected socket. Sets TCP_NODELAY, because every write is a whole answer or event.
Stream tcp_stream(TcpSocket socket);

}  // namespace proteus::net
