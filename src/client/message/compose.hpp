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

// What a request adds to the caller's `params`, depending on its era.
struct RequestFrame {
  mcp::Era era = mcp::Era::modern;
  RequestId id = kNoRequest;
  mcp::Method method{};
  std::string_view modern_meta;  // result of the function `modern_meta`
  std::string_view client_capabilities;
  std::string_view more_members;  // of `params`, after the caller's
  bool progress = false;          // requests progress, with the id of the request as the token
  std::optional<mcp::LogLevel> log_level;
  std::string_view more_meta;
};

// Returns the constant members of a modern request's `_meta`. The text ends where the value of the client's
// capabilities belongs.
std::string modern_meta(std::string_view client_info);

// A request ready to send. Refers to the `params` it was made from. Neither copyable nor movable, because its parts
// point into it.
class Composed {
 public:
  Composed(const RequestFrame& frame, const Params& params);
  Composed(const Composed&) = delete;
  Composed& operator=(const Composed&) = delete;

  // Adds the headers that every modern request has over HTTP. `name` is the value of `Mcp-Name`.
  void add_standard_headers(std::string_view name);
  // Adds headers. The elements of a span must outlive this object.
  void add_headers(std::span<const Header> headers);
  void add_headers(std::vector<Header>&& headers);

  // Sets the credentials to use instead of the connection's; null for the connection's. Must outlive this object.
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
