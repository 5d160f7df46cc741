#include "server/core/legacy_batch.hpp"

#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"
#include "server/core/legacy_answer.hpp"

namespace proteus::server {
namespace {

constexpr std::size_t kMaxBatch = 100;

}  // namespace

Result<std::vector<std::string_view>> split_batch(std::string_view text, const json::ScanLimits& limits) {
  auto elements = json::elements_of(text, kMaxBatch, limits);
  if (!elements) return std::unexpected(mcp::errors::invalid_request(elements.error().message()));
  if (elements->empty()) return std::unexpected(mcp::errors::invalid_request("The batch is empty"));
  return std::move(*elements);
}

Task<> run_batch(const std::vector<std::string_view>& batch, const json::ScanLimits& limits, Session& session,
                 InFlight& in_flight, Service& service, const BatchHandling& handling) {
  for (const std::string_view element : batch) {
    auto message = json::scan(element, limits);
    if (!message || message->kind == json::MessageKind::invalid) {
      const Error error = message ? mcp::errors::invalid_request(message->fault) : message.error();
      handling.send(mcp::write_error(message ? message->id : std::string_view{}, error, mcp::Era::legacy));
    } else if (message->kind == json::MessageKind::request) {
      std::string answer = co_await handling.answer(*message);
      if (!answer.empty()) handling.send(std::move(answer));
    } else if (message->kind == json::MessageKind::notification) {
      take_notification(*message, session, in_flight, service);
    } else {
      session.client_requests().resolve(*message);
    }
  }
}

}  // namespace proteus::server
