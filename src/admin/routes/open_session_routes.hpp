#pragma once

#include "admin/http/route.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/sessions/tool_sessions.hpp"
#include "store/store.hpp"

namespace proteus::admin {

// /admin/sessions: shows what callers have open, and ends a client session, a stream or a parked call. All arguments
// must outlive the routes.
Routes open_session_routes(gateway::Gateway& gateway, gateway::ToolSessions& sessions, store::Store& store);

}  // namespace proteus::admin
