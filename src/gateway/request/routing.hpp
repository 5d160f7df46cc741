#pragma once

#include <optional>

#include "gateway/connections/worker.hpp"
#include "gateway/request/service.hpp"
#include "gateway/routing/caller_lists.hpp"
#include "gateway/routing/route.hpp"

namespace proteus::gateway {

// The way from what a request wants to its route. Reads the lists that decide it, as the caller and only where several
// upstreams may be meant. Lives on the thread of its worker, for as long as the request runs.
class Routing {
 public:
  // All of these outlive it.
  Routing(CallerLists& lists, Worker& worker) : lists_(lists), worker_(worker) {}

  // Nothing where lists must be read first.
  std::optional<Result<Route>> at_once(const Wanted& wanted);

  // `wanted` lives as long as this runs. The cancellation is the request's own.
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
