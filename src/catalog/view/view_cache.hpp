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

// One thread's views of the current state. Not thread-safe: each thread has its own, so that none waits, and the count
// of a view's owners is not shared. Views of a state that is no longer current are dropped as soon as a newer one is
// asked for; of the others the one unused for longest makes room.
class ViewCache {
 public:
  ViewCache(const Clock& clock, std::size_t capacity) : clock_(clock), capacity_(capacity) {}

  // The view of a state by someone with this fingerprint, which names all that the layers depend on. They are asked for
  // only where the view has to be made.
  std::shared_ptr<const View> get(const CatalogState::Pointer& state, std::string_view fingerprint,
                                  const std::function<Layers()>& layers);

  // Drops what was last used before that time; a timer's business, so that an idle thread keeps no old state.
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
