#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "net/http_server/http_server.hpp"
#include "server/core/caller.hpp"
#include "server/http/other_processes.hpp"

namespace proteus::server {

class HttpEndpoint;

// HTTP+SSE of 2024-11-05, for clients that know nothing newer: GET opens a client's one stream, whose first event names
// the URL to post to; each POST is answered by 202 and its message on the stream. Thread-safe.
class OldSse {
 public:
  // The endpoint owns it.
  explicit OldSse(HttpEndpoint& endpoint) : endpoint_(endpoint) {}

  // Whether a request names a stream, as those to the URL of the first event do.
  static bool names_stream(const net::Request& request);

  // GET: lives for as long as the stream. A client that leaves has ended its session, and cancelled what runs in it.
  Task<> open(net::Exchange& exchange, const Caller& caller);
  // POST of a message, whose body is there.
  Task<> post(net::Exchange& exchange, const Caller& caller, Via via);

 private:
  class Line;

  // Null where there is none, or it belongs to another caller: the two look the same.
  std::shared_ptr<Line> find(std::string_view id, const Caller& caller);

  HttpEndpoint& endpoint_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Line>> lines_;
};

}  // namespace proteus::server
