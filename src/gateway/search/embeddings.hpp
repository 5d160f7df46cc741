#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "base/secrets/secret.hpp"
#include "base/tasks/background_threads.hpp"
#include "base/tasks/task_group.hpp"
#include "catalog/definitions/snapshot.hpp"
#include "gateway/search/kept_vectors.hpp"
#include "json/canonical.hpp"
#include "net/http/url.hpp"
#include "net/http_client/http_client.hpp"
#include "search/vectors.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

struct EmbeddingEndpoint {
  std::string url;  // endpoint that speaks the protocol of POST /v1/embeddings
  std::string model;
  Secret token = {};  // empty if the endpoint needs none

  friend bool operator==(const EmbeddingEndpoint&, const EmbeddingEndpoint&) = default;
};

// The meanings of tools and queries, as vectors from the model of an endpoint. Tools are sent to the endpoint in the
// background, when they are searched for the first time. Their vectors are cached by content, also in the store. Only a
// search waits for the endpoint, and only briefly. If the endpoint is down, slow or wrong, there are no vectors, and
// the status reports the fault. Nothing is sent while no endpoint is set. Thread-safe unless stated otherwise.
class Embeddings {
 public:
  struct Dependencies {
    boost::asio::io_context& control;  // all requests are sent on its thread
    const Clock& clock;
    store::Store& store;
    BackgroundThreads& background;
    net::HttpClientOptions http;
    // Returns whether the vectors of a provider are worth storing for the next process.
    std::function<bool(const catalog::UpstreamName&)> lasts;
    // The longest wait of a search for the vectors of its queries.
    std::chrono::milliseconds patience{400};
  };
  explicit Embeddings(Dependencies dependencies);
  ~Embeddings();

  // Sets the endpoint. Vectors of another endpoint are forgotten.
  void set(std::optional<EmbeddingEndpoint> endpoint);
  bool enabled() const;

  // Returns a snapshot's vectors by tool position; null for a tool without one. Returns null if none is known yet, and
  // starts to obtain them.
  using Vectors = std::shared_ptr<const std::vector<search::VectorPointer>>;
  Vectors of(const catalog::Snapshot& snapshot);
  // Returns the vectors of queries; null for those for which the endpoint has no answer in time. May be awaited on any
  // executor.
  Task<std::vector<search::VectorPointer>> of_queries(std::vector<std::string> texts);

  void drop_unused_since(Clock::Monotonic time);

  struct Status {
    bool enabled = false;
    std::size_t tools = 0;       // that have a vector
    std::uint64_t failures = 0;  // requests that failed so far
    std::string fault = {};      // of the last request; empty if it succeeded
  };
  Status status() const;

  // Called on the control thread, once nothing is searched any more.
  Task<> stop();

 private:
  struct Known {
    enum class State : std::uint8_t { wanted, part, whole };
    std::weak_ptr<const catalog::Snapshot> of;
    Vectors vectors;  // null until some are known
    Clock::Monotonic used;
    State state = State::wanted;
  };
  struct Texts;
  // The answer to a request.
  struct Fetched {
    enum class Outcome : std::uint8_t {
      good,
      refused,  // the endpoint does not take one of the texts
      failed,   // the endpoint is of no use now
    };
    Outcome outcome = Outcome::failed;
    std::vector<search::Vector> vectors = {};
    std::string why = {};
  };

  void work_soon();
  Task<> work();
  // Obtains a snapshot's vectors, as far as possible.
  Task<> learn(catalog::SnapshotPointer snapshot, EmbeddingEndpoint endpoint);
  // Obtains the vectors that are missing. A batch that is refused is halved until the text is found that the endpoint
  // does not take. Returns false if the endpoint is of no use now, which includes that it takes no text at all.
  Task<bool> fetch_missing(const EmbeddingEndpoint& endpoint, Texts& all);
  // Returns the vectors of queries, null for those that the endpoint does not take or has no answer for in time.
  Task<std::vector<search::VectorPointer>> fetch_queries(EmbeddingEndpoint endpoint, std::vector<std::string> texts);
  Task<Fetched> fetch(EmbeddingEndpoint endpoint, std::vector<std::string> texts, std::chrono::milliseconds most);
  Task<Fetched> ask(EmbeddingEndpoint endpoint, std::vector<std::string> texts, std::chrono::milliseconds most);
  void note_success();
  void note_failure(std::string_view why);

  const Dependencies dependencies_;
  net::HttpClient http_;
  TaskGroup tasks_;
  KeptVectors kept_;      // used on the control thread
  bool working_ = false;  // likewise

  mutable std::mutex mutex_;
  std::optional<EmbeddingEndpoint> endpoint_;
  std::size_t components_ = 0;      // of this endpoint's vectors; 0 before the first
  std::set<json::Digest> refused_;  // texts that this endpoint does not take
  std::map<const catalog::Snapshot*, Known> known_;
  std::map<json::Digest, std::weak_ptr<const search::Vector>> by_key_;
  std::deque<std::weak_ptr<const catalog::Snapshot>> wanted_;
  std::deque<std::pair<json::Digest, search::VectorPointer>> queries_;  // the latest few
  Clock::Monotonic ask_again_{};
  Status status_;
};

}  // namespace proteus::gateway
