#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>
#include <proteus/error.hpp>

#include "base/task.hpp"
#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"
#include "net/http_server/http_server.hpp"
#include "server/core/event_text.hpp"
#include "server/core/outbox.hpp"

// The HTTP answers that both eras give. `fields` are whole lines of the head, made by net::field_lines, and live longer
// than the answer.
namespace proteus::server {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kJsonFields = "Content-Type: application/json\r\n";
inline constexpr std::string_view kEventsType = "text/event-stream";
// Neither a cache nor a proxy in between may hold events back.
inline constexpr std::string_view kEventsFields =
    "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\nX-Accel-Buffering: no\r\n";

// A whole HTTP answer: a text, or a result in pieces that are not copied together.
class HttpAnswer {
 public:
  using Parts = boost::container::small_vector<std::string_view, 8>;

  // Without an id where the request's own could not be read. What an error has to say in the head comes by itself.
  static HttpAnswer error(unsigned status, std::string_view id, const Error& error, mcp::Era era,
                          std::string_view fields = {});
  static HttpAnswer empty(unsigned status);
  static HttpAnswer json(std::string body, std::string_view fields = {});
  // Events that are all there already.
  static HttpAnswer events(std::string frames);

  // A result, as JSON or as the last of some events. Made where it is to stay: it is large.
  HttpAnswer(std::string_view id, const mcp::MethodInfo& method, mcp::Reply&& reply, const mcp::ResultStyle& style,
             std::string_view fields = {});
  HttpAnswer(std::string frames, std::string_view id, const mcp::MethodInfo& method, mcp::Reply&& reply,
             const mcp::ResultStyle& style);

  net::ResponseHead head() const {
    return {.status = status_,
            .content_type = type_,
            .prepared = own_fields_.empty() ? fields_ : std::string_view(own_fields_)};
  }
  // Views into this answer, which must stay where it is.
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
  bool joined_ = false;  // the text has the reply in it
  std::string_view behind_;
};

Task<> reply(net::Exchange& exchange, HttpAnswer answer);

// The status of an error that answers a legacy request.
unsigned legacy_status(const Error& error);

// Whether an Accept header admits a type; a missing one admits everything.
bool accepts(const net::Request& request, std::string_view type);
// A JSON object and an event stream: the server chooses.
bool accepts_both(const net::Request& request);

// An MCP header that the request has twice: two readers could each believe another one.
std::optional<std::string_view> repeated_metadata(const net::Request& request);

// Writes what comes into the outbox as an event stream until it is closed or the client is gone; quiet times
// are filled with comments. The outbox is closed afterwards. True if the client got all of it.
Task<bool> stream_events(net::Exchange& exchange, std::shared_ptr<Outbox> outbox, std::chrono::milliseconds keep_alive);

}  // namespace proteus::server
