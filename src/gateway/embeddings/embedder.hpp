#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/secret.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "catalog/definitions/snapshot.hpp"
#include "json/shared_by_digest.hpp"
#include "net/http/url.hpp"
#include "net/http_client/http_client.hpp"
#include "search/vectors.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// An endpoint in the usual form of /v1/embeddings.
struct EmbedderSettings {
  net::Url url;
  std::string model;
  Secret token;  // empty for none
};

// Asks an endpoint what tools and queries mean. Tools are asked about in the background, and what was answered is kept
// in the store by content, so that nothing is asked twice. While the endpoint is down, slow or wrong there is nothing
// to rank by, and search goes on by words. Any thread, except where something else is said.
class Embedder {
 public:
  // How long a search waits for what its query means.
  static constexpr std::chrono::milliseconds kPatience{400};
  // After a failure; then twice as long each time.
  static constexpr std::chrono::seconds kFirstPause{5};
  static constexpr std::chrono::seconds kLongestPause{300};

  // Everything given outlives it. `home` is the one thread that asks, by `http`.
  Embedder(const Executor& home, net::HttpClient& http, store::Store& store, const Clock& clock,
           EmbedderSettings settings);

  using Vectors = std::shared_ptr<const std::vector<search::VectorPointer>>;
  // What is known of a snapshot's tools, by position; null where that is nothing yet. The rest is asked for aside.
  Vectors find(const catalog::Snapshot& snapshot);
  // Nothing where the endpoint does not say in time.
  Task<std::optional<search::Vector>> of_query(std::string text);

  // What keeps it from working, for operators; empty where nothing does.
  std::string fault() const;
  // Lets go of what was last searched before that time.
  void drop_unused_since(Clock::Monotonic time);
  // On the home's thread: ends what is under way. Nothing is asked afterwards.
  Task<> close();

 private:
  struct Kept {
    std::weak_ptr<const catalog::Snapshot> of;
    Vectors vectors;
    Clock::Monotonic used;
  };
  using Asked = Result<std::vector<search::Vector>>;

  // On the home's thread.
  void want(std::weak_ptr<const catalog::Snapshot> snapshot);
  Task<> work();
  Task<Result<>> embed(catalog::SnapshotPointer snapshot);
  Task<std::vector<search::VectorPointer>> load(std::string upstream);
  Task<> save(std::string upstream);
  Task<Asked> ask(std::vector<std::string> texts, net::RequestDeadlines deadlines);
  void keep(const catalog::Snapshot& snapshot, std::vector<search::VectorPointer> vectors);
  void report(const Result<>& outcome);

  const Executor home_;
  net::HttpClient& http_;
  store::Store& store_;
  const Clock& clock_;
  const EmbedderSettings settings_;

  mutable std::mutex mutex_;
  std::unordered_map<const catalog::Snapshot*, Kept> kept_;
  std::string fault_;
  Clock::Monotonic down_until_{};
  bool is_closed_ = false;

  // Of the home's thread.
  TaskGroup tasks_;
  std::deque<std::weak_ptr<const catalog::Snapshot>> wanted_;
  bool is_working_ = false;
  json::SharedByDigest<search::Vector> known_;
  std::size_t components_ = 0;
};

}  // namespace proteus::gateway
