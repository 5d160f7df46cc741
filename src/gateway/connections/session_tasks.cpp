#include "gateway/connections/session_tasks.hpp"

#include <algorithm>

namespace proteus::gateway {

void SessionTasks::add(std::string_view shown, std::string_view upstream, std::string_view own) {
  const std::scoped_lock lock(mutex_);
  if (std::ranges::find(known_, shown, &Known::shown) != known_.end()) return;
  if (known_.size() == kMost) known_.pop_front();
  known_.push_back({++last_, std::string(shown), std::string(upstream), std::string(own)});
}

void SessionTasks::remove(std::string_view shown) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [&](const Known& known) { return known.shown == shown; });
}

std::optional<std::string> SessionTasks::shown(std::string_view upstream, std::string_view own) const {
  const std::scoped_lock lock(mutex_);
  const auto found =
      std::ranges::find_if(known_, [&](const Known& known) { return known.upstream == upstream && known.own == own; });
  return found == known_.end() ? std::nullopt : std::optional(found->shown);
}

SessionTasks::Page SessionTasks::after(std::uint64_t number, std::size_t count) const {
  const std::scoped_lock lock(mutex_);
  Page page;
  auto at = std::ranges::upper_bound(known_, number, {}, &Known::number);
  for (; at != known_.end() && page.ids.size() < count; ++at) {
    page.ids.push_back(at->shown);
    page.last = at->number;
  }
  page.more = at != known_.end();
  return page;
}

}  // namespace proteus::gateway
