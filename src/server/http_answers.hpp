#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "mcp/jsonrpc.hpp"
#include "net/http_server.hpp"
#include "server/outbox.hpp"

// The HTTP answers that both eras give. `fields` are whole lines of the head, made by net::field_lines.
namespace proteus::server {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kJsonFields = "Content-Type: application/json\r\n";
inline constexpr std::string_view kEventsType = "text/event-stream";
// Neither a cache nor a proxy in between may hold events back.
inline constexpr std::string_view kEventsFields =
    "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n";

Task<> reply_empty(net::Exchange& exchange, unsigned status, std::string_view fields = {});
Task<> reply_json(net::Exchange& exchange, unsigned status, std::string_view body, std::string_view fields = {});
// Lines of the head that belong to an error: when to try again.
std::string error_fields(const Error& error);
// The status of an error that answers a legacy request.
unsigned legacy_status(const Error& error);
// Without an id where the request's own could not be read.
Task<> reply_error(net::Exchange& exchange, unsigned status, std::string_view id, const Error& error, mcp::Era era,
                   std::string_view fields = {});
Task<> reply_result(net::Exchange& exchange, std::string_view id, const mcp::MethodInfo& method,
                    const mcp::Reply& reply, const mcp::ResultStyle& style, std::string_view fields = {});

// Whether an Accept header admits a type; a missing one admits everything.
bool accepts(const net::Request& request, std::string_view type);
// A JSON object and an event stream: the server chooses.
bool accepts_both(const net::Request& request);

// An MCP header that the request has twice: two readers could each believe another one.
std::optional<std::string_view> repeated_metadata(const net::Request& request);

// What clients skip.
inline constexpr std::string_view kComment = ":\n\n";
// Around the data of an event.
inline constexpr std::string_view kEventBefore = "data: ";
inline constexpr std::string_view kEventBehind = "\n\n";
// One event on one line, whatever white space the message was written with.
std::string sse_frame(std::string message);
void append_sse_frame(std::string& frames, std::string message);
// Line ends in JSON stand between tokens only, where a space does as well.
void join_lines(std::string& message);

// Writes what comes into the outbox as an event stream until it is closed or the client is gone; quiet times
// are filled with comments. The outbox is closed afterwards. True if the client got all of it.
Task<bool> stream_events(net::Exchange& exchange, std::shared_ptr<Outbox> outbox, std::chrono::milliseconds keep_alive);

}  // namespace proteus::server
