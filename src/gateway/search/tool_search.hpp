#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/background_threads.hpp"
#include "base/clock.hpp"
#include "base/task.hpp"
#include "gateway/request/usable_tools.hpp"
#include "gateway/search/embeddings.hpp"
#include "search/indexes.hpp"
#include "search/query.hpp"
#include "search/rank.hpp"

namespace proteus::gateway {

// A tool that was found, in as few words as it takes to call it.
struct ToolHit {
  std::string name;
  std::string upstream;
  std::string signature;
  std::string description;
  bool read_only = false;
  float score = 0;
};

// Ranks the tools that a caller may use. What is worked out for that is made off the workers at the first search, and
// let go of when nobody has searched for a while. Used on any worker's thread.
class ToolSearch {
 public:
  // Both outlive it. `more` is what providers are described by besides what they say themselves; called on any thread.
  ToolSearch(const Clock& clock, BackgroundThreads& background, search::Indexes::More more)
      : more_(more), indexes_(clock, {}, std::move(more)), background_(background) {}

  // Ranks by meaning, too. Before anything is searched; it outlives this.
  void set_embeddings(Embeddings& embeddings) { embeddings_ = &embeddings; }

  // The best first; fails where there is nothing to search for. What is given lives until it ends.
  Task<Result<std::vector<ToolHit>>> find(const UsableTools& tools, std::span<const std::string_view> queries,
                                          std::size_t limit);
  // The names that were probably meant by one that nobody has.
  Task<std::vector<std::string>> nearest(const UsableTools& tools, std::string_view name, std::size_t limit);

  void drop_unused_since(Clock::Monotonic time);
  // Null where there are none.
  const Embeddings* embeddings() const { return embeddings_; }
  // What it keeps at the moment.
  std::size_t indexed_snapshots() const { return indexes_.size(); }
  std::size_t memory_bytes() const { return indexes_.memory_bytes(); }

 private:
  const search::Tuning& tuning() const { return indexes_.tuning(); }
  Task<std::vector<search::Hit>> rank(const UsableTools& tools, const search::Query& query, std::size_t limit);
  Task<std::vector<search::Visible>> visible(const UsableTools& tools);
  // Rankings by meaning, one for each query that has a vector.
  Task<std::vector<std::vector<search::Hit>>> rank_by_meaning(const UsableTools& tools,
                                                              std::span<const std::string_view> queries,
                                                              std::size_t limit);

  const search::Indexes::More more_;
  search::Indexes indexes_;
  BackgroundThreads& background_;
  Embeddings* embeddings_ = nullptr;
};

}  // namespace proteus::gateway
