#pragma once

#include "admin/http/route.hpp"
#include "gateway/operate/pin_decisions.hpp"

namespace proteus::admin {

// /admin/proposals: what waits for a person's decision, and the decisions. `pins` must outlive the routes.
Routes proposal_routes(gateway::PinDecisions& pins);

}  // namespace proteus::admin
