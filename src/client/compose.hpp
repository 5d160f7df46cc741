#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/options.hpp"
#include "client/transport.hpp"
#include "mcp/method.hpp"
#include "mcp/version.hpp"

namespace proteus::client {

// What one request adds to `params` in its era.
struct RequestFrame {
  mcp::Era era = mcp::Era::modern;
  RequestId id = kNoRequest;
  mcp::Method method{};
  std::string_view client_info;
  std::string_view client_capabilities;
  std::string_view more_members;  // of `params`, behind the caller's
  bool progress = false;
  std::optional<mcp::LogLevel> log_level;
  std::string_view more_meta;
};

// A request as it is sent. Refers to the payload it was made from, and does not move: its parts point into
// it.
class Composed {
 public:
  Composed(const RequestFrame& frame, const Params& params);
  Composed(const Composed&) = delete;
  Composed& operator=(const Composed&) = delete;

  // The headers that every modern request has over HTTP.
  void add_standard_headers(std::string_view name);

  Outgoing& outgoing() { return outgoing_; }

 private:
  std::string head_;
  std::string tail_;
  Outgoing outgoing_;
};

}  // namespace proteus::client
