#include "gateway/connections/session_tasks.hpp"

#include <algorithm>

namespace proteus::gateway {

void SessionTasks::add(std::string_view shown, std::string_view upstream, std::string_view own) {
  const std::scoped_lock lock(mutex_);
  if (std::ranges::find(known_, shown, &Known::shown) != known_.end()) return;
  if (known_.size() == kMost) known_.pop_front();
  known_.push_back({std::string(shown), std::string(upstream), std::string(own)});
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

std::optional<SessionTasks::Page> SessionTasks::after(std::string_view shown, std::size_t count) const {
  const std::scoped_lock lock(mutex_);
  auto at = known_.begin();
  if (!shown.empty()) {
    at = std::ranges::find(known_, shown, &Known::shown);
    if (at == known_.end()) return std::nullopt;
    ++at;
  }
  Page page;
  for (; at != known_.end() && page.ids.size() < count; ++at)
    page.ids.push_back(at->shown);
  page.more = at != known_.end();
  return page;
}

}  // namespace proteus::gateway
