#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/tasks/background_threads.hpp"
#include "base/tasks/task.hpp"
#include "json/canonical.hpp"
#include "search/embeddings.hpp"
#include "search/vectors.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// The vectors of each upstream's tools in the store: about 32 MiB of each, or 15,000 vectors of 1536 components, in
// several settings, because a setting has a limit. Used on one thread.
class KeptVectors {
 public:
  // Both references must outlive this object.
  KeptVectors(store::Store& store, BackgroundThreads& background) : store_(store), background_(background) {}

  // What the store has of an upstream.
  struct Kept {
    std::map<json::Digest, search::VectorPointer> vectors;
    std::size_t parts = 0;
  };
  Task<Kept> recall(std::string upstream);
  // Stores the vectors of an upstream's definitions, and up to a limit those of `before`, which may be of another
  // context's definitions, or of definitions that come back. Does nothing if `before` has all of them.
  Task<> keep(std::string upstream, std::vector<search::KeyedVector> present, Kept before);

 private:
  store::Store& store_;
  BackgroundThreads& background_;
  std::set<std::string> too_many_;  // upstreams of which the log says that not all vectors are stored
};

}  // namespace proteus::gateway
