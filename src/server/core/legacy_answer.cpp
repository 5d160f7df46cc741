#include "server/core/legacy_answer.hpp"

#include <fmt/format.h>

#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"

namespace proteus::server {
namespace {

// Limit of what a client declares about itself, which is kept as long as the session.
constexpr std::size_t kMaxHello = std::size_t{16} << 10U;

}  // namespace

Result<Session::Hello> read_hello(json::Message& message, const Caller& caller) {
  const std::string_view version = message.body.value("protocolVersion");
  const std::string_view capabilities = message.body.value("capabilities");
  const std::string_view info = message.body.value("clientInfo");
  if (!json::is_string(version)) {
    return std::unexpected(mcp::errors::invalid_params("params.protocolVersion must be a string"));
  }
  if (!json::is_object(capabilities)) {
    return std::unexpected(mcp::errors::invalid_params("params.capabilities must be an object"));
  }
  if (!json::is_object(info))
    return std::unexpected(mcp::errors::invalid_params("params.clientInfo must be an object"));
  if (capabilities.size() > kMaxHello || info.size() > kMaxHello) {
    return std::unexpected(mcp::errors::invalid_params(
        fmt::format("params.capabilities and params.clientInfo have at most {} bytes each", kMaxHello)));
  }
  return Session::Hello{caller, mcp::negotiate(json::decoded(version, message.decoded)), std::string(capabilities),
                        std::string(info)};
}

std::string answer_initialize(std::string_view id, const Session::Hello& hello, Service& service) {
  const Service::Face face = service.face(hello.caller, mcp::Era::legacy);
  mcp::Reply reply;
  reply.members.add(mcp::initialize_members(hello.version, face.capabilities, face.identity));
  return mcp::write_result(id, *mcp::find_method(mcp::Era::legacy, mcp::Sender::client, "initialize"), reply,
                           {mcp::Era::legacy, {}, {}});
}

std::optional<mcp::Outcome> answer_session_request(const mcp::Request& request, Session& session, Service& service) {
  switch (request.method->method) {
    case mcp::Method::initialize:
      return std::unexpected(mcp::errors::invalid_request("This session is initialized already"));
    case mcp::Method::ping: return mcp::Reply{};
    case mcp::Method::set_log_level: {
      const auto level = mcp::parse_log_level(json::plain_string(request.param("level")).value_or(""));
      if (!level) return std::unexpected(mcp::errors::invalid_params("params.level is not a log level"));
      session.set_log_level(*level);
      service.session_listens(session);
      return mcp::Reply{};
    }
    default: return std::nullopt;
  }
}

bool changes_subscriptions(const mcp::Request& request) {
  return request.method->method == mcp::Method::resources_subscribe ||
         request.method->method == mcp::Method::resources_unsubscribe;
}

Task<mcp::Outcome> change_subscriptions(const mcp::Request& request, Session& session, const Caller& caller,
                                        std::string_view authorization, Service& service) {
  const auto uri = json::decode_string(request.param("uri"));
  if (!uri) co_return std::unexpected(mcp::errors::invalid_params("params.uri must be a string"));
  bool is_added = false;
  mcp::Outcome outcome;
  try {
    if (request.method->method == mcp::Method::resources_unsubscribe) {
      session.unsubscribe(*uri);
      service.session_listens(session);
      co_return mcp::Reply{};
    }
    const mcp::SubscriptionFilter accepted = service.accept({.uris = {*uri}}, caller, &session);
    if (accepted.uris.empty()) co_return std::unexpected(mcp::errors::resource_not_found(*uri));
    // Subscribes first, so that an update that follows at once is not missed.
    const auto subscribed = session.subscribe(*uri);
    if (subscribed == Session::Subscribed::full) {
      co_return std::unexpected(errors::exhausted("this session has reached its limit of subscriptions"));
    }
    is_added = subscribed == Session::Subscribed::added;
    const auto refused = co_await service.follow(caller, authorization, &session, request, accepted);
    if (refused.empty()) co_return mcp::Reply{};
    outcome = std::unexpected(refused.front().why);
  } catch (...) {
    outcome = std::unexpected(service.failed(request));
  }
  // If this request repeated an earlier one, that one still stands.
  if (is_added) session.unsubscribe(*uri);
  co_return outcome;
}

void take_notification(const json::Message& message, Session& session, InFlight& in_flight, Service& service) {
  const auto* known = mcp::find_method(mcp::Era::legacy, mcp::Sender::client, message.method);
  if (known != nullptr && known->method == mcp::Method::cancelled) {
    return in_flight.cancel(message.body.value("requestId"));
  }
  if (known != nullptr && known->method == mcp::Method::progress) {
    return session.client_requests().progressed(message);
  }
  if (known == nullptr || known->method == mcp::Method::roots_changed) service.client_notified(session, message);
}

Error id_in_use() { return mcp::errors::invalid_request("A request with this id is still being answered"); }

Task<std::string> answer_request(json::Message& message, Session& session, const Caller& caller,
                                 std::string_view authorization, InFlight& in_flight, CallChannel& channel,
                                 Service& service, AskingLimits limits) {
  const Result<mcp::Request> request = mcp::legacy::decode(message, session.facts());
  if (!request) co_return mcp::write_error(message.id, request.error(), mcp::Era::legacy);
  if (const auto answered = answer_session_request(*request, session, service)) {
    co_return write_outcome(*request, *answered);
  }
  if (changes_subscriptions(*request)) {
    co_return write_outcome(*request, co_await change_subscriptions(*request, session, caller, authorization, service));
  }
  const std::string id(request->id());
  const auto cancellation = channel.cancellation().shared_from_this();
  if (!in_flight.add(id, cancellation)) co_return mcp::write_error(id, id_in_use(), mcp::Era::legacy);
  Call call(*request, caller, channel);
  call.set_authorization(authorization);
  call.join(session, limits.deadline);
  const mcp::Outcome outcome = co_await handle_asking(service, call, channel, session.client_requests(), limits);
  in_flight.remove(id);
  if (!cancellation->requested()) co_return write_outcome(*request, outcome);
  // A client that has cancelled a request expects no answer.
  if (cancellation->reason().empty()) co_return std::string();
  co_return mcp::write_error(id, given_up(*cancellation), mcp::Era::legacy);
}

std::string answer_before_handshake(const json::Message& message) {
  const auto* const ping = mcp::find_method(mcp::Era::legacy, mcp::Sender::client, "ping");
  if (message.method == ping->name) return mcp::write_result(message.id, *ping, {}, {mcp::Era::legacy, {}, {}});
  return mcp::write_error(message.id, mcp::errors::invalid_request("Initialize first"), mcp::Era::legacy);
}

std::string write_outcome(const mcp::Request& request, const mcp::Outcome& outcome) {
  if (!outcome) return mcp::write_error(request.id(), outcome.error(), mcp::Era::legacy);
  return mcp::write_result(request.id(), *request.method, std::get<mcp::Reply>(*outcome), {mcp::Era::legacy, {}, {}});
}

}  // namespace proteus::server
