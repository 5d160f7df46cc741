#pragma once

#include "admin/http/route.hpp"
#include "gateway/grants/vault.hpp"
#include "gateway/sign_in/sign_in_desk.hpp"

namespace proteus::admin {

// /admin/connections: shows and ends connections with upstreams, and begins those of the gateway itself. All arguments
// must outlive the routes.
Routes connection_routes(gateway::Vault& vault, gateway::SignInDesk& desk, BackgroundThreads& background);

}  // namespace proteus::admin
