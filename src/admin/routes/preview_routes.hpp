#pragma once

#include "admin/http/route.hpp"
#include "gateway/operate/pin_decisions.hpp"
#include "gateway/operate/token_registry.hpp"
#include "gateway/operate/upstream_registry.hpp"

namespace proteus::admin {

// /admin/preview: who would gain and lose what by a change. All arguments must outlive the routes.
Routes preview_routes(gateway::Gateway& gateway, gateway::UpstreamRegistry& registry, gateway::TokenRegistry& tokens,
                      gateway::PinDecisions& pins);

}  // namespace proteus::admin
