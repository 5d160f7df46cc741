#include <algorithm>
#include <chrono>
#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "net/http_server/http_server.hpp"
#include "net/io/workers.hpp"
#include "server/http/http_endpoint.hpp"

namespace proteus::server {

void drain(net::HttpServer& server, net::Workers& workers, HttpEndpoint& endpoint, std::chrono::milliseconds grace,
           std::chrono::milliseconds idle) {
  constexpr std::chrono::milliseconds kLook{20};
  using Time = std::chrono::steady_clock;
  const auto began = Time::now();
  // Stops accepting first, so that no new connection opens a stream after the streams were ended.
  auto drained = boost::asio::co_spawn(workers.at(0), server.drain(grace, idle), boost::asio::use_future);
  endpoint.end_listening();
  while (drained.wait_for(std::min(kLook, grace)) == std::future_status::timeout) {
    const auto passed = Time::now() - began;
    // While clients may still come here, a session that was handed over would only be taken back.
    if (passed > idle) endpoint.sessions().hand_over();
    if (passed < grace) continue;
    // A legacy call does not end with its connection, so closing the connections does not end it.
    endpoint.end_streams();
    break;
  }
  drained.get();
}

}  // namespace proteus::server
