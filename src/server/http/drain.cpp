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
  // New connections are refused first, so that no stream opens behind the back of those that are told to end.
  auto drained = boost::asio::co_spawn(workers.at(0), server.drain(grace, idle), boost::asio::use_future);
  endpoint.end_listening();
  while (drained.wait_for(std::min(kLook, grace)) == std::future_status::timeout) {
    const auto passed = Time::now() - began;
    // While a client may still come here with a session, it would only come back.
    if (passed > idle) endpoint.sessions().hand_over();
    if (passed < grace) continue;
    // A call of a legacy client does not end with its connection, so that the server alone cannot cut it short.
    endpoint.end_streams();
    break;
  }
  drained.get();
}

}  // namespace proteus::server
