#pragma once

#include <chrono>
#include <string_view>

#include "base/background_threads.hpp"
#include "base/clock.hpp"
#include "base/secret.hpp"
#include "base/task.hpp"
#include "mcp/reply.hpp"
#include "mcp/version.hpp"
#include "net/http_client/http_client.hpp"
#include "providers/http_tool/http_tool.hpp"

namespace proteus::providers {

struct HttpToolLimits {
  std::chrono::milliseconds timeout = std::chrono::seconds(50);  // unless the tool has one of its own
  std::chrono::milliseconds connect = std::chrono::seconds(5);
  std::size_t answer_bytes = std::size_t{4} << 20U;
};

// One call, whose arguments have been checked. Everything in it outlives the call.
struct HttpToolCall {
  const HttpTool& tool;
  std::string_view arguments;  // JSON text without braces
  const Secret& bearer;
  mcp::Era era;
  const Clock& clock;
  BackgroundThreads& background;  // for answers that take long to check
  net::RequestAbort* abort = nullptr;
};

// Posts `{…arguments, …fixed, "action"}` to the tool's URL, and makes a tool's result of what comes back: JSON as
// `structuredContent` and text, anything else as text. Whatever goes wrong is a result with `isError` that says what an
// agent can know: no address, no body, no token.
//
// Nothing is sent twice. A redirect is followed at most three times: 307 and 308 within the origin of the URL only,
// because they repeat the body; others by a GET that carries the token within that origin alone. Where addresses may
// lead is the client's to check, for each.
Task<mcp::Reply> call_http_tool(net::HttpClient& http, HttpToolCall call, HttpToolLimits limits);

// A result that says what went wrong.
mcp::Reply tool_error(std::string_view message);
mcp::Reply tool_text(std::string_view text);

}  // namespace proteus::providers
