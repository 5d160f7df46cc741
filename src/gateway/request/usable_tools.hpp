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
#include "gateway/request/routing.hpp"
#include "gateway/routing/caller_lists.hpp"

namespace proteus::gateway {

// All tools that one caller may use now, listed or not, but for those by which it searches. Everything it refers to
// lives as long as it.
class UsableTools {
 public:
  explicit UsableTools(std::shared_ptr<const catalog::View> view);
  UsableTools(UsableTools&&) noexcept = default;
  UsableTools& operator=(UsableTools&&) noexcept = default;

  // What an upstream has listed to this caller live, a page at a time and as the view shows it.
  void add_live(const ServedUpstream& upstream, catalog::DefinitionList::Pointer page);
  void add_unanswered(std::string upstream) { unanswered_.push_back(std::move(upstream)); }
  // Gives each name to its first holder, after all were added.
  void settle();
  // Leaves the tools of one provider alone.
  void keep_only(std::string_view upstream);

  // In the order in which names are won.
  const std::vector<catalog::View::Part>& parts() const { return parts_; }
  // Whether a part is in the catalog, so that its index is worth keeping.
  bool is_live(std::size_t part) const { return live_[part]; }
  // Upstreams that are listed live and did not answer in time.
  const std::vector<std::string>& unanswered() const { return unanswered_; }
  // As a call would find it.
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
  std::deque<std::vector<std::uint32_t>> lost_;  // where it is more than the view tells
  std::vector<std::string> unanswered_;
};

// Reads what there is for one request; upstreams that are listed live are asked as its caller. Lives on the thread of
// its worker, for as long as the request runs.
class UsableToolsReader {
 public:
  // All of these outlive it.
  UsableToolsReader(CallerLists& lists, Worker& worker, UpstreamMeans means, server::Cancellation& cancellation)
      : lists_(lists), worker_(worker), means_(means), cancellation_(cancellation) {}

  // Who takes longer to list is named as one that did not answer.
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
