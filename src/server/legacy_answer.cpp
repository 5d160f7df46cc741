#include "server/legacy_answer.hpp"

#include <fmt/format.h>

#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"

namespace proteus::server {
namespace {

// Of what a client says about itself: it is kept for as long as the session.
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

mcp::Reply initialize_reply(Service& service, const Session::Hello& hello) {
  const Service::Face face = service.face(hello.caller);
  mcp::Reply reply;
  reply.members.add(mcp::initialize_members(hello.version, face.capabilities, face.identity));
  return reply;
}

std::optional<mcp::Outcome> answer_session_request(const mcp::Request& request, Session& session) {
  switch (request.method->method) {
    case mcp::Method::initialize:
      return std::unexpected(mcp::errors::invalid_request("This session is initialized already"));
    case mcp::Method::ping: return mcp::Reply{};
    case mcp::Method::set_log_level: {
      const auto level = mcp::parse_log_level(json::plain_string(request.param("level")).value_or(""));
      if (!level) return std::unexpected(mcp::errors::invalid_params("params.level is no log level"));
      session.set_log_level(*level);
      return mcp::Reply{};
    }
    default: return std::nullopt;
  }
}

bool changes_subscriptions(const mcp::Request& request) {
  return request.method->method == mcp::Method::resources_subscribe ||
         request.method->method == mcp::Method::resources_unsubscribe;
}

Task<mcp::Outcome> change_subscriptions(const mcp::Request& request, Session& session, Service& service) {
  const auto uri = json::decode_string(request.param("uri"));
  if (!uri) co_return std::unexpected(mcp::errors::invalid_params("params.uri must be a string"));
  if (request.method->method == mcp::Method::resources_unsubscribe) {
    session.unsubscribe(*uri);
    service.session_listens(session);
    co_return mcp::Reply{};
  }
  const mcp::SubscriptionFilter accepted = service.accept({.uris = {*uri}}, session.hello().caller, &session);
  if (accepted.uris.empty()) co_return std::unexpected(mcp::errors::resource_not_found(*uri));
  // An update that follows closely must find it.
  if (!session.subscribe(*uri)) {
    co_return std::unexpected(errors::exhausted("this session has as many subscriptions as it may"));
  }
  const auto refused = co_await service.follow(session.hello().caller, &session, request, accepted);
  if (refused.empty()) co_return mcp::Reply{};
  session.unsubscribe(*uri);
  co_return std::unexpected(refused.front().why);
}

void take_notification(const json::Message& message, Session& session) {
  if (message.method == mcp::to_string(mcp::Method::cancelled)) {
    session.in_flight().cancel(message.body.value("requestId"));
  }
}

std::string write_outcome(const mcp::Request& request, const mcp::Outcome& outcome) {
  if (!outcome) return mcp::write_error(request.id(), outcome.error(), mcp::Era::legacy);
  return mcp::write_result(request.id(), *request.method, std::get<mcp::Reply>(*outcome), {mcp::Era::legacy, {}, {}});
}

}  // namespace proteus::server
