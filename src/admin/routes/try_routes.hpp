#pragma once

#include "admin/http/route.hpp"
#include "gateway/operate/try_tokens.hpp"

namespace proteus::admin {

// /admin/try: a token for a few minutes, to try what a principal may use. `tokens` must outlive the routes.
Routes try_routes(gateway::TryTokens& tokens);

}  // namespace proteus::admin
