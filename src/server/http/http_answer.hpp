#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>
#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"
#include "net/http_server/http_server.hpp"
#include "server/core/event_text.hpp"
#include "server/core/outbox.hpp"

// HTTP answers of both eras. `fields` are whole header lines, made by net::field_lines, and must outlive the answer.
namespace proteus::server {

// Scanning a message of this size takes as long as several whole calls.
inline constexpr std::size_t kLongMessage = std::size_t{64} << 10U;

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kJsonFields = "Content-Type: application/json\r\n";
inline constexpr std::string_view kEventsType = "text/event-stream";
// Neither a cache nor a proxy may hold events back.
inline constexpr std::string_view kEventsFields =
    "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n";

// For requests that another process of the cluster may answer in a moment.
inline constexpr std::string_view kTryAgain = "Retry-After: 1\r\n";

// A whole HTTP answer: a text, or a result whose pieces are not copied into one text.
class HttpAnswer {
 public:
  using Parts = boost::container::small_vector<std::string_view, 8>;

  // `id` is empty if the id of the request could not be read. Adds the header lines that belong to the error, such as
  // Retry-After.
  static HttpAnswer error(unsigned status, std::string_view id, const Error& error, mcp::Era era,
                          std::string_view fields = {});
  static HttpAnswer empty(unsigned status);
  static HttpAnswer json(std::string body, std::string_view fields = {});
  // Returns an event stream that is complete already.
  static HttpAnswer events(std::string frames);

  // A result, as JSON or as the last of some events. Should be constructed in its final place, because it is large.
  HttpAnswer(std::string_view id, const mcp::MethodInfo& method, mcp::Reply&& reply, const mcp::ResultStyle& style,
             std::string_view fields = {});
  HttpAnswer(std::string frames, std::string_view id, const mcp::MethodInfo& method, mcp::Reply&& reply,
             const mcp::ResultStyle& style);

  net::ResponseHead head() const {
    return {.status = status_,
            .content_type = type_,
            .prepared = own_fields_.empty() ? fields_ : std::string_view(own_fields_)};
  }
  // Returns views into this answer, which must not be moved meanwhile.
  Parts parts() const;

 private:
  HttpAnswer() = default;

  unsigned status_ = 200;
  std::string_view type_;
  std::string_view fields_;
  std::string own_fields_;
  std::string text_;
  mcp::ResultFrame frame_;
  mcp::Reply reply_;
  bool joined_ = false;  // `text_` contains the reply
  std::string_view behind_;
};

Task<> reply(net::Exchange& exchange, HttpAnswer answer);

// Returns the HTTP status of an error that answers a legacy request.
unsigned legacy_status(const Error& error);

// Whether the Accept headers admit a type. Without any, everything is admitted.
bool accepts(const net::Request& request, std::string_view type);
// Whether both JSON and an event stream are admitted, so that the server may choose.
bool accepts_both(const net::Request& request);

// Returns the Authorization field; empty if there is none.
std::string_view authorization_of(const net::Request& request);

// Returns an MCP header that the request has twice. Two readers could use different values of such a header.
std::optional<std::string_view> repeated_metadata(const net::Request& request);

// Writes the messages of the outbox as an event stream until the outbox is closed or the client is gone. Sends a
// comment whenever there was no message for `keep_alive`. Then closes the outbox. Returns whether the whole stream was
// written.
Task<bool> stream_events(net::Exchange& exchange, std::shared_ptr<Outbox> outbox, std::chrono::milliseconds keep_alive);

}  // namespace proteus::server
