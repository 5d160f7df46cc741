#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "client/message/options.hpp"
#include "client/message/received.hpp"
#include "json/splice.hpp"
#include "mcp/reply.hpp"
#include "mcp/request.hpp"
#include "server/core/call.hpp"

// Between what a client sent us and what an upstream is sent, and back. Nothing is parsed that need not be, and nothing
// is lost that is not the protocol's own.
namespace proteus::gateway {

// Of a request whose upstream has sent the user to a URL first.
inline constexpr std::string_view kVisitedState = "visited";

struct MetaLimits {
  std::size_t keys = 64;
  std::size_t depth = 8;
  std::size_t bytes = std::size_t{16} * 1024;
};

// Whether the caller's own part of `_meta` is within limits.
Result<void> check_meta(const mcp::Request& request, const MetaLimits& limits);

enum class Propagate : std::uint8_t { all, trace_context, all_but_trace_context };
// The members of the caller's `_meta` that go to an upstream, as JSON text without braces.
std::string forwarded_meta(const mcp::Request& request, Propagate what);

// The `params` of a request as an upstream is sent them: with its own name, without what the protocol adds on each leg
// of the way. Views the request, and stays where it is.
class ForwardedParams {
 public:
  // `own` is the upstream's name or URI; of a completion, that in its `ref`. Answers to what the upstream asked before
  // go with it, and its state, where its era has that. `arguments` take the place of the caller's, where they are not
  // empty, and outlive it.
  ForwardedParams(const mcp::Request& request, std::string_view own, const server::Rounds& rounds, mcp::Era era,
                  std::string_view arguments = {});
  ForwardedParams(const ForwardedParams&) = delete;
  ForwardedParams& operator=(const ForwardedParams&) = delete;

  client::Params take() { return std::move(params_); }

 private:
  void rename(std::string_view named, std::string_view own);

  std::string quoted_;
  json::Splice splice_;
  client::Params params_;
};

// Whether a handler's state tells that the request has been sent to its upstream before.
bool is_state_after_sending(std::string_view state);

// A result as a reply that belongs to no era, or as the need for input. Shares the received bytes. What the client's
// era cannot have is left out. It may be kept for no more callers than `widest` says.
mcp::Outcome to_outcome(const client::Answer& answer, mcp::Era client, mcp::CacheScope widest);

// Whether a tool says in its result that it failed.
bool is_tool_error(const client::Answer& answer);

// A notification of a running request as its caller is to get it; empty where it is not to.
std::string forwarded_notification(const json::Message& message, const mcp::Request& request);

}  // namespace proteus::gateway
