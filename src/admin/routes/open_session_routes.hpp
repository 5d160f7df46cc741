#pragma once

#include "admin/http/route.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/sessions/tool_sessions.hpp"
#include "store/store.hpp"

namespace proteus::admin {

// /admin/sessions: what callers have open, and to end one. All of it outlives the routes.
Routes open_session_routes(gateway::Gateway& gateway, gateway::ToolSessions& sessions, store::Store& store);

}  // namespace proteus::admin
