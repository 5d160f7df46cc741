#pragma once

#include <optional>

#include "gateway/connections/worker.hpp"
#include "gateway/request/service.hpp"
#include "gateway/routing/caller_lists.hpp"
#include "gateway/routing/route.hpp"

namespace proteus::gateway {

// Finds the route of a request. If several upstreams are candidates, reads the lists that decide, as the caller. Lives
// on its worker's thread while the request runs.
class RouteFinder {
 public:
  // All arguments must outlive it.
  RouteFinder(CallerLists& lists, Worker& worker) : lists_(lists), worker_(worker) {}

  // Returns nothing if lists must be read first.
  std::optional<Result<Route>> at_once(const Wanted& wanted);

  // Reads lists if necessary. What `wanted` views must outlive the task. `cancellation` is the request's own.
  Task<Result<Route>> run(Wanted wanted, UpstreamMeans means, server::Cancellation& cancellation);

 private:
  Result<std::variant<Route, UnreadLists>> find(const Wanted& wanted);
  Task<> read(const UnreadLists& unread, const UpstreamMeans& means, server::Cancellation& cancellation);
  Task<> read_one(ServedUpstream upstream, catalog::Kind kind, const UpstreamMeans& means,
                  server::Cancellation& cancellation);

  CallerLists& lists_;
  Worker& worker_;
};

}  // namespace proteus::gateway
