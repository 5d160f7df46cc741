#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "gateway/sessions/tool_sessions.hpp"

// The bodies that the endpoints of tool sessions take. Everything that is wrong with one is said, in the data of the
// error.
namespace proteus::admin {

// 1 to 128 letters, digits, "-", "_", ".", ":" and "~", so that it is the same in a query.
Result<gateway::ToolSessionId> read_session_id(std::string_view text);

Result<gateway::ToolSessions::Init> read_init(const boost::json::value& body);

// Apart from the tools, which are read from the text.
Result<gateway::ToolSessions::Registration> read_registration(const boost::json::value& body);

struct SessionAndName {
  gateway::ToolSessionId id;
  std::string name;
};
Result<SessionAndName> read_unregistration(const boost::json::value& body);
Result<gateway::ToolSessionId> read_cleanup(const boost::json::value& body);

}  // namespace proteus::admin
