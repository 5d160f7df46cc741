#pragma once

#include "admin/http/route.hpp"
#include "gateway/grants/vault.hpp"
#include "gateway/sign_in/sign_in_desk.hpp"

namespace proteus::admin {

// Connections with upstreams: shown, ended, and begun for the gateway itself. All outlive the routes.
Routes connection_routes(gateway::Vault& vault, gateway::SignInDesk& desk, BackgroundThreads& background);

}  // namespace proteus::admin
