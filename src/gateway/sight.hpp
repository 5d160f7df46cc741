#pragma once

#include <string>
#include <string_view>

#include "catalog/view.hpp"
#include "server/caller.hpp"

namespace proteus::gateway {

// How a caller looks at the catalog: the one place that decides what is seen. The caller outlives it.
class Sight {
 public:
  explicit Sight(const server::Caller& caller);
  Sight(const Sight&) = delete;
  Sight& operator=(const Sight&) = delete;

  // Names all that the layers depend on: callers for whom it is the same see the same.
  std::string_view fingerprint() const { return fingerprint_; }
  catalog::Layers layers() const;

 private:
  const server::Caller& caller_;
  catalog::SnapshotPointer own_;
  std::string composed_;  // needed only by those who have something of their own
  std::string_view fingerprint_;
};

}  // namespace proteus::gateway
