#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "base/tasks/background_threads.hpp"
#include "base/tasks/task.hpp"
#include "gateway/request/usable_tools.hpp"
#include "gateway/search/embeddings.hpp"
#include "search/indexes.hpp"
#include "search/query.hpp"
#include "search/rank.hpp"

namespace proteus::gateway {

// A tool that was found, with just enough to call it.
struct ToolHit {
  std::string name;
  std::string upstream;
  std::string signature;
  std::string description;
  bool read_only = false;
  float score = 0;
};

// Ranks the tools that a caller may use. Indexes are made on background threads at the first search, and dropped when
// they are no longer used. Ranking that may take long runs there, too. May be used on any worker's thread.
class ToolSearch {
 public:
  // `clock` and `background` must outlive this object. `more` returns text about a provider in addition to its own;
  // called on any thread.
  ToolSearch(const Clock& clock, BackgroundThreads& background, search::Indexes::More more)
      : more_(more), indexes_(clock, {}, std::move(more)), background_(background) {}

  // Lets searches rank by meaning, too. Must be called before the first search; `embeddings` must outlive this object.
  void set_embeddings(Embeddings& embeddings) { embeddings_ = &embeddings; }

  // Shared with work on background threads, which may outlive a request that is cut off.
  using Tools = std::shared_ptr<const UsableTools>;
  // Returns the best tools first. Fails if the queries have no words, which must outlive the task.
  Task<Result<std::vector<ToolHit>>> find(Tools tools, std::span<const std::string_view> queries, std::size_t limit);
  // Returns, for each of these names that no tool has, the names that were probably meant. The names must outlive the
  // task.
  using Names = std::vector<std::string>;
  Task<std::vector<Names>> nearest(Tools tools, std::span<const std::string_view> names, std::size_t limit);

  void drop_unused_since(Clock::Monotonic time);
  // Null if none were set.
  const Embeddings* embeddings() const { return embeddings_; }
  // The number and size of the indexes that are kept.
  std::size_t indexed_snapshots() const { return indexes_.size(); }
  std::size_t memory_bytes() const { return indexes_.memory_bytes(); }

 private:
  struct Meanings;

  const search::Tuning& tuning() const { return indexes_.tuning(); }
  Task<std::vector<search::Visible>> visible(Tools tools);
  Task<Meanings> meanings(Tools tools, std::span<const std::string_view> queries);

  const search::Indexes::More more_;
  search::Indexes indexes_;
  BackgroundThreads& background_;
  Embeddings* embeddings_ = nullptr;
};

}  // namespace proteus::gateway
