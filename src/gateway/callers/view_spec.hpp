#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "catalog/view/view.hpp"
#include "gateway/callers/context_view.hpp"
#include "gateway/callers/own_lists.hpp"
#include "server/core/caller.hpp"

namespace proteus::gateway {

// Whether a caller gets to know tools by searching, because of who it is or of its context (null for none).
bool is_to_search(const Principal& principal, const ContextView* context_view);

// What a view is for: to use what is in it, or to list it. They differ for callers who search.
enum class ViewFor : std::uint8_t { use, list };

// How a caller looks at the catalog: the one place that decides what is seen. The caller outlives it.
class ViewSpec {
 public:
  // `outlook` is null where there are no contexts.
  // `alone` is what upstreams show this caller alone; null for nothing.
  explicit ViewSpec(const server::Caller& caller, std::shared_ptr<const ContextView> context_view = nullptr,
                    std::shared_ptr<const OwnLists::Snapshots> alone = nullptr, ViewFor purpose = ViewFor::use);
  ViewSpec(const ViewSpec&) = delete;
  ViewSpec& operator=(const ViewSpec&) = delete;

  // Names all that the layers depend on: callers for whom it is the same see the same.
  std::string_view fingerprint() const { return fingerprint_; }
  catalog::Layers layers() const;

 private:
  std::shared_ptr<const catalog::Lens> lens() const;

  const server::Caller& caller_;
  const std::shared_ptr<const ContextView> context_view_;
  const std::shared_ptr<const OwnLists::Snapshots> alone_;
  const bool searches_;
  const ViewFor purpose_;
  catalog::SnapshotPointer own_;
  std::string composed_;  // needed only by those who have something of their own, or where there are contexts
  std::string_view fingerprint_;
};

}  // namespace proteus::gateway
