#include "server/http_endpoint.hpp"

#include <boost/asio/this_coro.hpp>

#include "mcp/errors.hpp"
#include "mcp/headers.hpp"
#include "server/http_answers.hpp"
#include "server/legacy_http.hpp"
#include "server/modern_http.hpp"

namespace proteus::server {
namespace {

bool modern_version(std::optional<std::string_view> header) {
  const auto version = header ? mcp::parse_version(*header) : std::nullopt;
  return version && mcp::era_of(*version) == mcp::Era::modern;
}

}  // namespace

HttpEndpoint::HttpEndpoint(Service& service, Listeners& listeners, const Clock& clock, SealingKey key,
                           HttpEndpointOptions options)
    : service_(service),
      listeners_(listeners),
      options_(std::move(options)),
      sessions_(clock, listeners, options_.sessions),
      states_(std::move(key), clock) {}

Task<> HttpEndpoint::handle(net::Exchange& exchange) {
  // What runs here ends by its own rules: a closed connection, a cancelled request, the end of streams.
  co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
  const net::Request& request = exchange.request();
  const auto refuse = [&exchange](unsigned status, const Error& error, std::string_view fields = {}) {
    return reply_error(exchange, status, {}, error, mcp::Era::modern, fields);
  };

  if (!options_.hosts.allows_host(request.fields().find("Host").value_or(""))) {
    const Error error = mcp::errors::invalid_request("This server is not known by the name in the Host header");
    co_return co_await refuse(403, error);
  }
  if (!options_.hosts.allows_origin(request.fields().find("Origin"))) {
    const Error error = mcp::errors::invalid_request("Requests from this Origin are not allowed");
    co_return co_await refuse(403, error);
  }
  Caller caller;
  if (options_.authenticate) {
    auto authenticated = options_.authenticate(request);
    if (!authenticated) co_return co_await refuse(401, authenticated.error(), "WWW-Authenticate: Bearer\r\n");
    caller = std::move(*authenticated);
  }

  const std::string_view method = request.method();
  if (method == "POST") co_return co_await post(exchange, caller);
  if (options_.eras.legacy && method == "GET") co_return co_await LegacyHttp(*this).get(exchange, caller);
  if (options_.eras.legacy && method == "DELETE") co_return co_await LegacyHttp(*this).remove(exchange, caller);
  const Error error = mcp::errors::invalid_request("This endpoint takes POST");
  co_await refuse(405, error, options_.eras.legacy ? "Allow: POST, GET, DELETE\r\n" : "Allow: POST\r\n");
}

Task<> HttpEndpoint::post(net::Exchange& exchange, const Caller& caller) {
  const net::Request& request = exchange.request();
  const auto version = request.fields().find(mcp::header::kProtocolVersion);
  const auto refuse = [&exchange](unsigned status, std::string_view id, const Error& error) {
    return reply_error(exchange, status, id, error, mcp::Era::modern);
  };

  std::string_view type = request.fields().find("Content-Type").value_or("");
  type = type.substr(0, type.find_first_of("; \t"));
  if (!net::same_field_name(type, "application/json")) {
    const Error error = mcp::errors::invalid_request("The Content-Type must be application/json");
    co_return co_await refuse(415, {}, error);
  }
  if (!accepts(request, "application/json") || !accepts(request, "text/event-stream")) {
    const Error error = mcp::errors::invalid_request("Accept must list application/json and text/event-stream");
    co_return co_await refuse(406, {}, error);
  }

  Result<json::Message> message = json::scan(request.body(), options_.messages);
  if (!message) co_return co_await refuse(mcp::http_status(message.error(), mcp::Era::modern), {}, message.error());
  if (message->kind == json::MessageKind::invalid) {
    if (request.body().find_first_not_of(" \t\r\n") == request.body().find('[') && options_.eras.legacy &&
        !modern_version(version)) {
      co_return co_await LegacyHttp(*this).batch(exchange, caller);
    }
    const Error error = mcp::errors::invalid_request("Not a JSON-RPC message: " + message->fault);
    co_return co_await refuse(400, message->id, error);
  }

  if (mcp::modern::claims(*message, version)) {
    if (options_.eras.modern) co_return co_await ModernHttp(*this).post(exchange, *message, caller);
    const Error error = mcp::errors::invalid_request("This server speaks MCP with a session: initialize first");
    co_return co_await refuse(400, message->id, error);
  }
  if (options_.eras.legacy) co_return co_await LegacyHttp(*this).post(exchange, *message, caller);
  // A client of the past has no way to learn what to speak but this message.
  const Error error =
      version ? mcp::errors::unsupported_version(*version, options_.eras)
              : mcp::errors::header_mismatch("MCP-Protocol-Version is missing; this server speaks 2026-07-28 only");
  co_await refuse(400, message->id, error);
}

void HttpEndpoint::end_streams() {
  listeners_.end_all();
  sessions_.close_all();
}

}  // namespace proteus::server
