#pragma once

#include <chrono>
#include <string_view>

#include "base/clock.hpp"
#include "base/secrets/secret.hpp"
#include "base/tasks/background_threads.hpp"
#include "base/tasks/task.hpp"
#include "mcp/reply.hpp"
#include "mcp/version.hpp"
#include "net/http_client/http_client.hpp"
#include "providers/http_tool/http_tool.hpp"

namespace proteus::providers {

struct HttpToolLimits {
  std::chrono::milliseconds timeout = std::chrono::seconds(50);  // unless the tool has its own
  std::chrono::milliseconds connect = std::chrono::seconds(5);
  std::size_t answer_bytes = std::size_t{4} << 20U;
};

// One call, whose arguments have been checked. Everything it refers to must outlive the call.
struct HttpToolCall {
  const HttpTool& tool;
  std::string_view arguments;  // JSON text without braces
  const Secret& bearer;
  mcp::Era era;
  const Clock& clock;
  BackgroundThreads& background;  // for answers that take long to check
  net::RequestAbort* abort = nullptr;
};

// Posts `{…arguments, …fixed, "action"}` to the tool's URL, and turns the response into a tool's result: JSON into
// `structuredContent` and text, anything else into text. Every failure is a result with `isError` that says what an
// agent may know: no address, no body, no token.
//
// Nothing is sent twice. At most three redirects are followed. 307 and 308 repeat the POST with its body, and are
// followed only within the origin of the URL. Others lead to a GET, and so does every redirect after that; a GET
// carries the token only within that origin. The HTTP client must check the address of each request.
Task<mcp::Reply> call_http_tool(net::HttpClient& http, HttpToolCall call, HttpToolLimits limits);

// Makes a result that reports a failure.
mcp::Reply tool_error(std::string_view message);
mcp::Reply tool_text(std::string_view text);

}  // namespace proteus::providers
