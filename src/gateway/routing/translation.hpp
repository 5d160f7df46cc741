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

// Translates between a client's messages and an upstream's. Parses only what is necessary, and loses only what belongs
// to the protocol.
namespace proteus::gateway {

// The state of a request whose upstream has sent the user to a URL first.
inline constexpr std::string_view kVisitedState = "visited";

struct MetaLimits {
  std::size_t keys = 64;
  std::size_t depth = 8;
  std::size_t bytes = std::size_t{16} * 1024;
};

// Checks the caller's own part of `_meta`.
Result<void> check_meta(const mcp::Request& request, const MetaLimits& limits);

enum class Propagate : std::uint8_t { all, trace_context, all_but_trace_context };
// Returns the members of the caller's `_meta` that go to an upstream, as JSON text without braces.
std::string forwarded_meta(const mcp::Request& request, Propagate what);

// The `params` of a request as an upstream gets them: with the upstream's own name, and without what the protocol adds
// for a single hop. Views the request and must not move.
class ForwardedParams {
 public:
  // `own` is the upstream's name or URI; for a completion, the one in its `ref`. For a modern upstream, the answers to
  // its questions and its state are added. `arguments` replace the caller's unless they are empty, and must outlive
  // this.
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

// Whether a handler's state shows that the request was already sent to its upstream.
bool is_state_after_sending(std::string_view state);

// Returns a result as a reply for either era, or as a need for input. Shares the received bytes. Leaves out what the
// client's era cannot have. The reply may be cached at most as widely as `widest`.
mcp::Outcome to_outcome(const client::Answer& answer, mcp::Era client, mcp::CacheScope widest);

// Whether a tool reports in its result that it failed.
bool is_tool_error(const client::Answer& answer);

// Returns a notification of a running request in the form for its caller; empty if the caller must not get it.
std::string forwarded_notification(const json::Message& message, const mcp::Request& request);

}  // namespace proteus::gateway
