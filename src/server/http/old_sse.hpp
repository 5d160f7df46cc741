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

// HTTP+SSE of 2024-11-05, for clients that know no newer transport. GET opens a client's only stream, whose first event
// names the URL for POST. Each POST is answered with 202, and its message on the stream. Thread-safe.
class OldSse {
 public:
  // `endpoint` owns this object.
  explicit OldSse(HttpEndpoint& endpoint) : endpoint_(endpoint) {}

  // Whether the URL of a request names a stream, as the URL in the first event does.
  static bool names_stream(const net::Request& request);

  // Answers GET; completes when the stream has ended. A client that disconnects ends its session and cancels its
  // running requests.
  Task<> open(net::Exchange& exchange, const Caller& caller);
  // Answers POST of a message whose body has arrived.
  Task<> post(net::Exchange& exchange, const Caller& caller, Via via);

 private:
  class Line;
  struct Posted;

  // Returns null if there is no such stream or it belongs to another caller, without distinguishing the two.
  std::shared_ptr<Line> find(std::string_view id, const Caller& caller);
  // Reads a posted message; a background thread reads a long one.
  Task<Result<void>> scan(std::shared_ptr<Posted> posted) const;

  HttpEndpoint& endpoint_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Line>> lines_;
};

}  // namespace proteus::server
