#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/background_threads.hpp"
#include "base/clock.hpp"
#include "base/secret.hpp"
#include "base/task_group.hpp"
#include "catalog/definitions/snapshot.hpp"
#include "json/canonical.hpp"
#include "net/http/url.hpp"
#include "net/http_client/http_client.hpp"
#include "search/vectors.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

struct EmbeddingEndpoint {
  std::string url;  // that answers in the form of POST /v1/embeddings
  std::string model;
  Secret token = {};  // empty for none

  friend bool operator==(const EmbeddingEndpoint&, const EmbeddingEndpoint&) = default;
};

// What tools and queries mean, as the model of an endpoint sees it. Tools are sent there in the background when
// somebody searches them for the first time, and kept by content, in the store too. Nothing waits for it but a search,
// and that for a moment; where the endpoint is down, slow or wrong, there are no vectors, and the operator is told.
// Nothing is sent anywhere while there is no endpoint. Thread-safe where nothing else is said.
class Embeddings {
 public:
  struct Dependencies {
    boost::asio::io_context& control;  // whose thread everything is sent from
    const Clock& clock;
    store::Store& store;
    BackgroundThreads& background;
    net::HttpClientOptions http;
    // Whether what is known of a provider is worth keeping for the next process.
    std::function<bool(const catalog::UpstreamName&)> lasts;
  };
  explicit Embeddings(Dependencies dependencies);
  ~Embeddings();

  // From now on. Vectors of another model are forgotten.
  void set(std::optional<EmbeddingEndpoint> endpoint);
  bool enabled() const;

  // By position, null for a tool that has none; null where nothing is known yet, which is found out then.
  using Vectors = std::shared_ptr<const std::vector<search::VectorPointer>>;
  Vectors of(const catalog::Snapshot& snapshot);
  // Null where the endpoint does not answer in time. On any thread's executor.
  Task<search::VectorPointer> of_query(std::string text);

  void drop_unused_since(Clock::Monotonic time);

  struct Status {
    bool enabled = false;
    std::size_t tools = 0;       // that have a vector
    std::uint64_t failures = 0;  // requests that came to nothing, so far
    std::string fault = {};      // of the last request; empty where it was answered
  };
  Status status() const;

  // On the control thread; nothing is asked any more.
  Task<> stop();

 private:
  struct Known {
    enum class State : std::uint8_t { wanted, part, whole };
    std::weak_ptr<const catalog::Snapshot> of;
    Vectors vectors;  // null before any is known
    Clock::Monotonic used;
    State state = State::wanted;
  };
  struct Texts;
  using ByKey = std::map<json::Digest, search::VectorPointer>;

  void work_soon();
  Task<> work();
  // What a snapshot's vectors are, as far as they can be had.
  Task<> learn(catalog::SnapshotPointer snapshot, EmbeddingEndpoint endpoint);
  Task<bool> fetch_missing(const EmbeddingEndpoint& endpoint, Texts& all);
  // Those that the store has of an upstream.
  Task<ByKey> recall(const catalog::UpstreamName& upstream);
  Task<> keep(const catalog::UpstreamName& upstream, const Texts& texts, ByKey before);
  Task<Result<std::vector<search::Vector>>> fetch(const EmbeddingEndpoint& endpoint, std::vector<std::string> texts,
                                                  std::chrono::milliseconds most);
  static Task<Result<std::vector<search::Vector>>> fetch_query(Embeddings& self, EmbeddingEndpoint endpoint,
                                                               std::string text);
  Result<> note(Result<> outcome);

  const Dependencies dependencies_;
  net::HttpClient http_;
  TaskGroup tasks_;
  bool working_ = false;        // of the control thread
  std::size_t components_ = 0;  // likewise: of this model's vectors; 0 before the first

  mutable std::mutex mutex_;
  std::optional<EmbeddingEndpoint> endpoint_;
  std::map<const catalog::Snapshot*, Known> known_;
  std::map<json::Digest, std::weak_ptr<const search::Vector>> by_key_;
  std::deque<std::weak_ptr<const catalog::Snapshot>> wanted_;
  std::deque<std::pair<json::Digest, search::VectorPointer>> queries_;  // the last few
  Clock::Monotonic ask_again_{};
  Status status_;
};

}  // namespace proteus::gateway
