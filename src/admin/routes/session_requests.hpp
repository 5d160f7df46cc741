#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "gateway/sessions/tool_sessions.hpp"

// Reads the bodies of requests about tool sessions. An error lists all faults of a body in its data.
namespace proteus::admin {

// Accepts 1 to 128 letters, digits, "-", "_", ".", ":" and "~", which need no escapes in a query.
Result<gateway::ToolSessionId> read_session_id(std::string_view text);

Result<gateway::ToolSessions::Init> read_init(const boost::json::value& body);

// Reads everything but the tools, which ToolSessions::read_tools reads from the text of the body.
Result<gateway::ToolSessions::Registration> read_registration(const boost::json::value& body);

struct SessionAndName {
  gateway::ToolSessionId id;
  std::string name;
};
Result<SessionAndName> read_unregistration(const boost::json::value& body);
Result<gateway::ToolSessionId> read_cleanup(const boost::json::value& body);

}  // namespace proteus::admin
