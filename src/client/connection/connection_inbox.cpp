// Notifications and requests from the server.
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "client/connection/connection.hpp"
#include "json/text.hpp"

namespace proteus::client {
namespace {

std::optional<mcp::Method> question_method(std::string_view raw) {
  const auto name = json::decode_string(raw);
  if (!name) return std::nullopt;
  for (const auto method : {mcp::Method::elicit, mcp::Method::create_message, mcp::Method::list_roots}) {
    if (*name == mcp::to_string(method)) return method;
  }
  return std::nullopt;
}

bool is_unknown(const mcp::MethodInfo* method) { return method == nullptr || method->form != mcp::Form::notification; }

// Returns whether a notification has no fixed receiver in the connection.
bool names_nobody(const mcp::MethodInfo* method) {
  return is_unknown(method) || method->method == mcp::Method::log_message ||
         method->method == mcp::Method::elicitation_complete;
}

}  // namespace

void Connection::on_notification(const Received& received, RequestId during) {
  const json::Message& message = received.message();
  if (options_.on_notification) options_.on_notification(message);
  const mcp::Era era = facts_ ? facts_->era() : mcp::Era::legacy;
  // 2026-07-28, "Streamable HTTP": messages on the stream of a request relate to that request.
  const std::string_view named = message.body.value(mcp::meta::kProgressToken);
  const std::optional<RequestId> token = named.empty() ? std::nullopt : json::as_int64(named);
  if (era == mcp::Era::modern && during != kNoRequest && !named.empty() && token != during) return;
  const bool claimed = requests_.on_notification(message, during, token);
  const auto* method = mcp::find_method(era, mcp::Sender::server, message.method);
  if (!claimed && names_nobody(method)) on_unclaimed(message, era);
  if (is_unknown(method)) return;
  switch (method->method) {
    case mcp::Method::progress:
      if (const auto passed = requests_.on_progress(message, token); !passed)
        options_.log->debug("progress is ignored: {}", passed.error().message());
      return;
    case mcp::Method::log_message: return on_log(message, during);
    case mcp::Method::cancelled:
      if (era == mcp::Era::legacy) questions_.on_cancelled(message.body.value("requestId"));
      return;
    default: return listener_.on_notification(message, method->method, during);
  }
}

void Connection::on_unclaimed(const json::Message& message, mcp::Era era) {
  std::optional<mcp::LogLevel> level;
  if (message.method == mcp::to_string(mcp::Method::log_message)) {
    level = mcp::parse_log_level(json::plain_string(message.body.value("level")).value_or(""));
    if (!level) return;
  }
  if (const InFlight* const told = requests_.addressee(options_.owner, era, level)) {
    return told->options->on_notification(message);
  }
  if (options_.on_unclaimed) return options_.on_unclaimed(message);
  options_.log->debug("a notification has no receiver: {}", log::printable(message.method, 64));
}

void Connection::on_log(const json::Message& message, RequestId during) {
  const auto entry = read_log(message);
  if (!entry) return options_.log->debug("a log message is ignored: {}", entry.error().message());
  requests_.on_log(*entry, during);
  if (options_.on_log) options_.on_log(*entry);
}

void Connection::on_request(Received received, RequestId during) {
  const auto& negotiated = link_.current();
  const bool modern = negotiated ? negotiated->era() == mcp::Era::modern : false;
  if (modern || !link_.transport()) {
    return options_.log->warning("a request of the server is ignored, because a modern server sends none: {}",
                                 log::printable(received.message().method, 64));
  }
  questions_.on_request(std::move(received), during, link_.transport());
}

// Returns the members that the retry of a request has in addition (2026-07-28, "Multi Round-Trip Requests").
Task<Result<std::string>> Connection::gather_inputs(const Answer& required, const RequestOptions& options) {
  const auto fault = [](std::string text) { return std::unexpected(errors::protocol(std::move(text))); };
  const std::string_view requests = required.member("inputRequests");
  const std::string_view state = required.member("requestState");
  if (requests.empty() && state.empty()) co_return fault("the server requires input, but does not say which");
  std::string members;
  if (!requests.empty()) {
    std::vector<std::unique_ptr<std::string>> storage;
    const auto questions = json::members_of(requests, storage);
    if (!questions) co_return fault("inputRequests is not an object");
    if (questions->size() > options_.limits.server_requests)
      co_return std::unexpected(errors::too_large("the number of inputs required", options_.limits.server_requests));
    members = R"("inputResponses":{)";
    const auto own = options.own_handlers();
    for (const auto& [key, raw] : *questions) {
      const auto parts = json::members_of(raw, storage);
      const auto method = parts ? question_method(parts->value("method")) : std::nullopt;
      if (!method) co_return fault(fmt::format("the server requires an unknown input: {}", log::printable(raw, 80)));
      if (link_.is_closed()) co_return std::unexpected(errors::cancelled("the request"));
      Question question{*method, std::string(parts->value("params")), kNoRequest};
      const Handlers& handlers = own ? *own : options_.handlers;
      Deadline deadline(executor_, options_.handler_timeout, {});
      gathering_.insert(&deadline);
      const std::shared_ptr<void> end(nullptr, [&](void*) { gathering_.erase(&deadline); });
      auto answer = co_await before(deadline, ask(handlers, std::move(question)), mcp::to_string(*method));
      if (!answer) co_return std::unexpected(std::move(answer.error()).within("the server requires input"));
      if (members.back() != '{') members += ',';
      json::append_quoted(members, key);
      members += ':';
      members += *answer;
    }
    members += '}';
  }
  if (!state.empty()) {
    if (!members.empty()) members += ',';
    members += R"("requestState":)";
    members += state;
  }
  co_return members;
}

}  // namespace proteus::client
