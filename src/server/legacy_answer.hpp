#pragma once

#include <optional>

#include "server/service.hpp"
#include "server/session.hpp"

// What a legacy session answers itself, over any transport.
namespace proteus::server {

// Reads what a client says in `initialize`.
Result<Session::Hello> read_hello(json::Message& message, const Caller& caller);
mcp::Reply initialize_reply(Service& service, const Session::Hello& hello);

// Requests about the session; nothing where the request is for the service.
std::optional<mcp::Outcome> answer_session_request(const mcp::Request& request, Session& session);
// Those of them that others have to agree to; everything given outlives the task.
bool changes_subscriptions(const mcp::Request& request);
Task<mcp::Outcome> change_subscriptions(const mcp::Request& request, Session& session, Service& service);
void take_notification(const json::Message& message, Session& session);

std::string write_outcome(const mcp::Request& request, const mcp::Outcome& outcome);

}  // namespace proteus::server
