#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "client/message/options.hpp"
#include "client/message/transport.hpp"
#include "mcp/method.hpp"
#include "mcp/version.hpp"

namespace proteus::client {

// What one request adds to `params` in its era.
struct RequestFrame {
  mcp::Era era = mcp::Era::modern;
  RequestId id = kNoRequest;
  mcp::Method method{};
  std::string_view modern_meta;  // what `modern_meta` wrote
  std::string_view client_capabilities;
  std::string_view more_members;  // of `params`, behind the caller's
  bool progress = false;          // is asked for; it has the id of the request for a token
  std::optional<mcp::LogLevel> log_level;
  std::string_view more_meta;
};

// The members of a modern request's `_meta` that are the same each time, up to the value of the capabilities.
std::string modern_meta(std::string_view client_info);

// A request as it is sent. Refers to the payload it was made from, and does not move: its parts point into
// it.
class Composed {
 public:
  Composed(const RequestFrame& frame, const Params& params);
  Composed(const Composed&) = delete;
  Composed& operator=(const Composed&) = delete;

  // The headers that every modern request has over HTTP.
  void add_standard_headers(std::string_view name);
  // More of them, which outlive it.
  void add_headers(std::span<const Header> headers);
  void add_headers(std::vector<Header>&& headers);

  // As whom it is sent, where that is not whose the connection is. Outlives it.
  void set_authorizer(Authorizer* authorizer, int refused_before) {
    outgoing_.authorizer = authorizer;
    outgoing_.refused_before = refused_before;
  }

  const Outgoing& outgoing() const { return outgoing_; }

 private:
  fmt::basic_memory_buffer<char, 128> head_;
  fmt::basic_memory_buffer<char, 256> tail_;
  std::string name_;
  std::vector<Header> headers_;
  Outgoing outgoing_;
};

}  // namespace proteus::client
