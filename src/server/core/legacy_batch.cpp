#include "server/core/legacy_batch.hpp"

#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"
#include "server/core/legacy_answer.hpp"

namespace proteus::server {
namespace {

constexpr std::size_t kMaxBatch = 100;

}  // namespace

Result<Batch> scan_batch(std::string_view text, const json::ScanLimits& limits) {
  const auto elements = json::elements_of(text, kMaxBatch, limits);
  if (!elements) return std::unexpected(mcp::errors::invalid_request(elements.error().message()));
  if (elements->empty()) return std::unexpected(mcp::errors::invalid_request("The batch is empty"));
  Batch batch;
  batch.reserve(elements->size());
  for (const std::string_view element : *elements)
    batch.push_back(json::scan(element, limits));
  return batch;
}

Task<> run_batch(Batch batch, Session& session, InFlight& in_flight, Service& service, const BatchHandling& handling) {
  for (auto& message : batch) {
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
