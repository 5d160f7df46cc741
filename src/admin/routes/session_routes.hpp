#pragma once

#include "admin/http/route.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/sessions/tool_sessions.hpp"

namespace proteus::admin {

// /admin/session and /admin/tools: to bind a token to a session, to give it tools, and to take them away. All of it
// outlives the routes.
Routes session_routes(gateway::Gateway& gateway, gateway::ToolSessions& sessions);

}  // namespace proteus::admin
