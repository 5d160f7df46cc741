#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "catalog/view/view.hpp"
#include "gateway/callers/context_view.hpp"
#include "gateway/callers/own_lists.hpp"
#include "server/core/caller.hpp"

namespace proteus::gateway {

// Whether a caller finds tools by searching, because of its permissions or its context. `context_view` is null for
// none.
bool is_to_search(const Principal& principal, const ContextView* context_view);

// What a view is for: to use its entries, or to list them. The two differ for callers who search.
enum class ViewFor : std::uint8_t { use, list };

// How a caller sees the catalog: the one place that decides what is visible. The caller must outlive it.
class ViewSpec {
 public:
  // `context_view` is null if there are no contexts. `alone` is what upstreams show this caller alone; null for
  // nothing.
  explicit ViewSpec(const server::Caller& caller, std::shared_ptr<const ContextView> context_view = nullptr,
                    std::shared_ptr<const OwnLists::Snapshots> alone = nullptr, ViewFor purpose = ViewFor::use);
  ViewSpec(const ViewSpec&) = delete;
  ViewSpec& operator=(const ViewSpec&) = delete;

  // Identifies everything that the layers depend on: callers with equal fingerprints see the same.
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
  std::string composed_;  // empty if only access rules matter
  std::string_view fingerprint_;
};

}  // namespace proteus::gateway
