#pragma once

#include <optional>

#include "server/core/asking.hpp"
#include "server/core/call.hpp"
#include "server/core/service.hpp"
#include "server/core/session.hpp"

// Answers the messages of legacy sessions, over any transport.
namespace proteus::server {

// Reads the params of `initialize`.
Result<Session::Hello> read_hello(json::Message& message, const Caller& caller);
// Returns the answer to `initialize`.
std::string answer_initialize(std::string_view id, const Session::Hello& hello, Service& service);

// Answers a request about the session itself. Returns nothing if the request is for the service.
std::optional<mcp::Outcome> answer_session_request(const mcp::Request& request, Session& session, Service& service);
// Whether the request changes subscriptions, to which the service has to agree.
bool changes_subscriptions(const mcp::Request& request);
// `authorization` is the Authorization field of the request; see Call. Everything given must outlive the task.
Task<mcp::Outcome> change_subscriptions(const mcp::Request& request, Session& session, const Caller& caller,
                                        std::string_view authorization, Service& service);
// Handles a notification of the client. `in_flight` has the client's running requests.
void take_notification(const json::Message& message, Session& session, InFlight& in_flight, Service& service);

// Answers any request of a session with one message, which is empty if the client cancelled the request. The request is
// cancelled by its id in `in_flight`, through the cancellation of the channel. `caller` is the session's caller, with
// the credentials of this request, and `authorization` its Authorization field. Everything given must outlive the task.
Task<std::string> answer_request(json::Message& message, Session& session, const Caller& caller,
                                 std::string_view authorization, InFlight& in_flight, CallChannel& channel,
                                 Service& service, AskingLimits limits);
// Answers a request before the handshake: only a ping succeeds.
std::string answer_before_handshake(const json::Message& message);
Error id_in_use();

std::string write_outcome(const mcp::Request& request, const mcp::Outcome& outcome);

}  // namespace proteus::server
