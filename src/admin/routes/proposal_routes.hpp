#pragma once

#include "admin/http/route.hpp"
#include "gateway/operate/pin_decisions.hpp"

namespace proteus::admin {

// What waits for a person's decision, and the decisions. What is given outlives them.
Routes proposal_routes(gateway::PinDecisions& pins);

}  // namespace proteus::admin
