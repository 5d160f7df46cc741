#include "catalog/view/view_cache.hpp"

#include <algorithm>

#include "base/memory/memory.hpp"

namespace proteus::catalog {

std::shared_ptr<const View> ViewCache::get(const CatalogState::Pointer& state, std::string_view fingerprint,
                                           const std::function<Layers()>& layers) {
  if (state->version() != version_) {
    views_.clear();
    version_ = state->version();
  }
  const auto now = clock_.recent();
  if (const auto found = views_.find(fingerprint); found != views_.end()) {
    found->second.used = now;
    return found->second.view;
  }
  if (!views_.empty() && views_.size() >= capacity_) {
    views_.erase(std::ranges::min_element(views_, {}, [](const auto& entry) { return entry.second.used; }));
  }
  auto view = std::make_shared<const View>(state, layers());
  views_.emplace(fingerprint, Entry{view, now});
  return view;
}

void ViewCache::drop_unused_since(Clock::Monotonic time) {
  std::erase_if(views_, [&](const auto& entry) { return entry.second.used < time; });
  let_go_of_buckets(views_);
}

}  // namespace proteus::catalog
