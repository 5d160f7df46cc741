#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.hpp"
#include "catalog/view/view.hpp"

namespace proteus::catalog {

// One thread's cache of views of the current state. Not thread-safe: each thread has its own, so that no thread waits
// and reference counts of views are not contended. Requesting a view of a newer state drops all views of the older one.
// If the cache is full, the least recently used view makes room.
class ViewCache {
 public:
  ViewCache(const Clock& clock, std::size_t capacity) : clock_(clock), capacity_(capacity) {}

  // Returns the view of a state for callers with this fingerprint, which must identify everything that the layers
  // depend on. Calls `layers` only if the view must be made.
  std::shared_ptr<const View> get(const CatalogState::Pointer& state, std::string_view fingerprint,
                                  const std::function<Layers()>& layers);

  // Drops views that were last used before `time`. A timer calls this, so that an idle thread does not keep an old
  // state alive.
  void drop_unused_since(Clock::Monotonic time);
  std::size_t size() const { return views_.size(); }

 private:
  struct Text {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the name that containers look for
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Entry {
    std::shared_ptr<const View> view;
    Clock::Monotonic used;
  };

  const Clock& clock_;
  std::size_t capacity_;
  std::uint64_t version_ = 0;
  std::unordered_map<std::string, Entry, Text, std::equal_to<>> views_;
};

}  // namespace proteus::catalog
