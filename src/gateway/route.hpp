#pragma once

#include <memory>
#include <string>

#include <proteus/error.hpp>

#include "catalog/view.hpp"
#include "gateway/upstreams.hpp"
#include "server/call.hpp"

namespace proteus::gateway {

// Who answers a request, and by which name.
struct Route {
  ServedUpstream upstream;  // empty where it is answered within the process
  std::string own;          // at the upstream
  catalog::Found found;     // where it is in the view, and lives as long
  std::shared_ptr<const catalog::View> view;
  std::shared_ptr<LocalProvider> local;      // who answers then
  catalog::Kind kind = catalog::Kind::tool;  // of what is asked for
};

// Finds the upstream for a call, a read, a prompt or a completion. What the view does not show is not found, whether it
// exists or not; the error is the one the method has for that.
//
// What an upstream that is listed live has to offer is its own to know: it is asked for the names under its prefix that
// no upstream before it has.
//
// `guide` answers for contexts; null where there are none.
Result<Route> find_route(const server::Call& call, std::shared_ptr<const catalog::View> view,
                         const UpstreamTable& upstreams, const std::shared_ptr<LocalProvider>& guide = nullptr);

}  // namespace proteus::gateway
