#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/view/view.hpp"
#include "gateway/connections/worker.hpp"
#include "gateway/request/live_lists.hpp"
#include "gateway/request/route_finder.hpp"
#include "gateway/routing/caller_lists.hpp"

namespace proteus::gateway {

// All tools that one caller may use now, listed or not, without the search tools themselves. Keeps everything it refers
// to alive.
class UsableTools {
 public:
  explicit UsableTools(std::shared_ptr<const catalog::View> view);
  UsableTools(UsableTools&&) noexcept = default;
  UsableTools& operator=(UsableTools&&) noexcept = default;

  // Adds a page that an upstream has listed to this caller live, as the view shows it.
  void add_live(const ServedUpstream& upstream, catalog::DefinitionList::Pointer page);
  void add_unanswered(std::string upstream) { unanswered_.push_back(std::move(upstream)); }
  // Assigns each name to its first holder; to be called once all pages were added.
  void settle();
  // Removes the tools of all other providers.
  void keep_only(std::string_view upstream);

  // In the order in which providers win names.
  const std::vector<catalog::View::Part>& parts() const { return parts_; }
  // Whether a part was listed live: it is not in the catalog, so its index is not worth keeping.
  bool is_live(std::size_t part) const { return live_[part]; }
  // Upstreams that are listed live and did not answer in time.
  const std::vector<std::string>& unanswered() const { return unanswered_; }
  // Finds a tool as a call would.
  catalog::Found find(std::string_view name) const;
  bool has_upstream(std::string_view name) const;

 private:
  struct Live {
    std::uint32_t place;
    catalog::SnapshotPointer snapshot;
  };

  std::shared_ptr<const catalog::View> view_;
  std::vector<Live> pages_;
  std::vector<catalog::View::Part> parts_;
  std::vector<bool> live_;
  std::deque<std::vector<std::uint32_t>> lost_;  // names that parts lose besides those that the view reports
  std::vector<std::string> unanswered_;
};

// Collects the tools of one request's caller; live upstreams are asked as this caller. Lives on its worker's thread
// while the request runs.
class UsableToolsReader {
 public:
  // All arguments must outlive it.
  UsableToolsReader(CallerLists& lists, Worker& worker, UpstreamMeans means, server::Cancellation& cancellation)
      : lists_(lists), worker_(worker), means_(means), cancellation_(cancellation) {}

  // Upstreams that take longer to list are reported as unanswered.
  static constexpr std::chrono::seconds kMost{3};
  Task<UsableTools> run();

 private:
  Task<> read_one(ServedUpstream upstream, std::shared_ptr<const catalog::View> view, UsableTools& into);

  CallerLists& lists_;
  Worker& worker_;
  const UpstreamMeans means_;
  server::Cancellation& cancellation_;
};

}  // namespace proteus::gateway
