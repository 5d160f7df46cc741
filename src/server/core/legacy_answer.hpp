#pragma once

#include <optional>

#include "server/core/asking.hpp"
#include "server/core/call.hpp"
#include "server/core/service.hpp"
#include "server/core/session.hpp"

// What a legacy session answers itself, over any transport.
namespace proteus::server {

// Reads what a client says in `initialize`.
Result<Session::Hello> read_hello(json::Message& message, const Caller& caller);
mcp::Reply initialize_reply(Service& service, const Session::Hello& hello);

// Requests about the session; nothing where the request is for the service.
std::optional<mcp::Outcome> answer_session_request(const mcp::Request& request, Session& session, Service& service);
// Those of them that others have to agree to; everything given outlives the task.
bool changes_subscriptions(const mcp::Request& request);
Task<mcp::Outcome> change_subscriptions(const mcp::Request& request, Session& session, const Caller& caller,
                                        Service& service);
// `in_flight` has the client's requests under way.
void take_notification(const json::Message& message, Session& session, InFlight& in_flight, Service& service);

// Answers any request of a session with one message, which is empty where the request was cancelled. It is cancelled by
// its id in `in_flight`, through the channel's cancellation. The caller is the session's, by the credentials that this
// request came with. Everything given outlives the task.
Task<std::string> answer_request(json::Message& message, Session& session, const Caller& caller, InFlight& in_flight,
                                 CallChannel& channel, Service& service, AskingLimits limits);
// What can be answered before the handshake: a ping.
std::string answer_before_handshake(const json::Message& message);
Error id_in_use();

std::string write_outcome(const mcp::Request& request, const mcp::Outcome& outcome);

}  // namespace proteus::server
