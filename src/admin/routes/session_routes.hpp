#pragma once

#include "admin/http/route.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/sessions/tool_sessions.hpp"

namespace proteus::admin {

// /admin/session and /admin/tools: bind a token to a tool session, give the session tools, and take them away. All
// arguments must outlive the routes.
Routes session_routes(gateway::Gateway& gateway, gateway::ToolSessions& sessions);

}  // namespace proteus::admin
