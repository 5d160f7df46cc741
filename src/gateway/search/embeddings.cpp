#include "gateway/search/embeddings.hpp"

#include <algorithm>
#include <array>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/text/utf8.hpp"
#include "search/embeddings.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;
using catalog::Kind;
using search::VectorPointer;

// Long, because nobody waits for the vectors of tools.
constexpr std::chrono::milliseconds kForTools = 20s;
// Pause after a failure, so that not every search waits in vain.
constexpr std::chrono::seconds kRest{5};
constexpr std::size_t kMostAnswer = std::size_t{16} << 20U;
constexpr std::size_t kQueriesKept = 64;
// After so many texts in a row that the endpoint does not take, it is asked whether it takes any.
constexpr std::size_t kMostRefused = 8;
// A text that no endpoint has a reason to refuse.
constexpr std::string_view kPlainText = "tool";
constexpr std::size_t kRefusedKept = 10'000;
// Limit of a text: models read no more, and a longer description may be hostile.
constexpr std::size_t kMostText = std::size_t{8} << 10U;

std::string cut(std::string text) {
  text.resize(cut_text(text, kMostText).size());
  return text;
}

}  // namespace

// By position.
struct Embeddings::Texts {
  std::vector<std::string> texts;
  std::vector<json::Digest> keys;
  std::vector<VectorPointer> vectors;

  std::vector<search::KeyedVector> known() const {
    std::vector<search::KeyedVector> known;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (vectors[i]) known.push_back({keys[i], vectors[i]});
    }
    return known;
  }
};

Embeddings::Embeddings(Dependencies dependencies)
    : dependencies_(std::move(dependencies)),
      http_(dependencies_.control, dependencies_.clock, dependencies_.http),
      tasks_(dependencies_.control.get_executor()),
      kept_(dependencies_.store, dependencies_.background) {}

Embeddings::~Embeddings() = default;

void Embeddings::set(std::optional<EmbeddingEndpoint> endpoint) {
  const std::scoped_lock lock(mutex_);
  if (endpoint_ == endpoint) return;
  endpoint_ = std::move(endpoint);
  known_.clear();
  by_key_.clear();
  wanted_.clear();
  queries_.clear();
  ask_again_ = {};
  status_ = {.enabled = endpoint_.has_value()};
  components_ = 0;
  refused_.clear();
}

bool Embeddings::enabled() const {
  const std::scoped_lock lock(mutex_);
  return endpoint_.has_value();
}

Embeddings::Vectors Embeddings::of(const catalog::Snapshot& snapshot) {
  const auto now = dependencies_.clock.recent();
  const std::scoped_lock lock(mutex_);
  if (!endpoint_) return nullptr;
  auto& known = known_[&snapshot];
  // A new snapshot may have the address of one that is gone.
  if (known.of.expired()) known = Known{snapshot.weak_from_this(), nullptr, now, Known::State::part};
  known.used = now;
  const bool rests = dependencies_.clock.now() < ask_again_;
  if (known.state != Known::State::part || rests) return known.vectors;
  known.state = Known::State::wanted;
  wanted_.push_back(known.of);
  asio::post(dependencies_.control, [this] { work_soon(); });
  return known.vectors;
}

void Embeddings::work_soon() {
  if (std::exchange(working_, true)) return;
  tasks_.spawn("embedding tools", work());
}

// Handles one snapshot after the other, so that the endpoint gets one request at a time for tools.
Task<> Embeddings::work() {
  for (;;) {
    catalog::SnapshotPointer snapshot;
    std::optional<EmbeddingEndpoint> endpoint;
    {
      const std::scoped_lock lock(mutex_);
      while (!wanted_.empty() && !snapshot) {
        snapshot = wanted_.front().lock();
        wanted_.pop_front();
      }
      endpoint = endpoint_;
    }
    if (!snapshot || !endpoint) break;
    co_await learn(std::move(snapshot), std::move(*endpoint));
  }
  working_ = false;
}

Task<> Embeddings::learn(catalog::SnapshotPointer snapshot, EmbeddingEndpoint endpoint) {
  Texts all = co_await dependencies_.background.run([snapshot, model = endpoint.model] {
    Texts made;
    const auto& list = snapshot->list(Kind::tool);
    for (const auto& tool : list.definitions()) {
      made.texts.push_back(cut(search::embedded_text(snapshot->upstream().value(), list, tool)));
      made.keys.push_back(search::embedding_key(model, made.texts.back()));
    }
    return made;
  });
  all.vectors.resize(all.texts.size());
  const auto take = [&](auto&& find) {
    bool complete = true;
    for (std::size_t i = 0; i < all.keys.size(); ++i) {
      if (!all.vectors[i]) all.vectors[i] = find(all.keys[i]);
      complete = complete && all.vectors[i] != nullptr;
    }
    return complete;
  };
  bool whole = false;
  {
    const std::scoped_lock lock(mutex_);
    whole = take([this](const json::Digest& key) {
      const auto found = by_key_.find(key);
      return found != by_key_.end() ? found->second.lock() : nullptr;
    });
  }
  const bool lasts = dependencies_.lasts(snapshot->upstream());
  KeptVectors::Kept stored;
  if (!whole && lasts) {
    stored = co_await kept_.recall(snapshot->upstream().value());
    whole = take([&](const json::Digest& key) {
      const auto found = stored.vectors.find(key);
      return found != stored.vectors.end() ? found->second : nullptr;
    });
  }
  if (!whole) {
    whole = co_await fetch_missing(endpoint, all);
    // Stored before use, so that a gateway that is stopped does not send the texts again.
    if (lasts) co_await kept_.keep(snapshot->upstream().value(), all.known(), std::move(stored));
  }
  const std::scoped_lock lock(mutex_);
  if (endpoint_ != endpoint) co_return;
  for (std::size_t i = 0; i < all.keys.size(); ++i) {
    if (all.vectors[i]) by_key_.insert_or_assign(all.keys[i], all.vectors[i]);
  }
  const auto known = known_.find(snapshot.get());
  if (known != known_.end()) {
    known->second.vectors = std::make_shared<const std::vector<VectorPointer>>(all.vectors);
    known->second.state = whole ? Known::State::whole : Known::State::part;
  }
}

Task<bool> Embeddings::fetch_missing(const EmbeddingEndpoint& endpoint, Texts& all) {
  using Outcome = Fetched::Outcome;
  std::vector<std::size_t> missing;
  {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < all.vectors.size(); ++i) {
      if (!all.vectors[i] && !refused_.contains(all.keys[i])) missing.push_back(i);
    }
  }
  std::deque<std::span<const std::size_t>> batches;
  for (std::span<const std::size_t> rest = missing; !rest.empty();) {
    batches.push_back(rest.first(std::min(search::kEmbeddedAtOnce, rest.size())));
    rest = rest.subspan(batches.back().size());
  }
  // Texts that were refused alone since the endpoint last took any. They are to blame only if it takes another one.
  std::vector<json::Digest> suspects;
  const auto remember_refused = [&] {
    const std::scoped_lock lock(mutex_);
    if (refused_.size() + suspects.size() > kRefusedKept) refused_.clear();
    if (endpoint_ == endpoint) refused_.insert(suspects.begin(), suspects.end());
    suspects.clear();
  };
  while (!batches.empty() || !suspects.empty()) {
    const bool tries_plain_text = batches.empty() || suspects.size() == kMostRefused;
    std::span<const std::size_t> batch;
    std::vector<std::string> texts;
    if (tries_plain_text) {
      texts.emplace_back(kPlainText);
    } else {
      batch = batches.front();
      batches.pop_front();
    }
    for (const std::size_t i : batch)
      texts.push_back(all.texts[i]);
    auto fetched = co_await fetch(endpoint, std::move(texts), kForTools);
    if (fetched.outcome == Outcome::failed) co_return false;
    if (fetched.outcome == Outcome::good) {
      for (std::size_t i = 0; i < batch.size(); ++i)
        all.vectors[batch[i]] = std::make_shared<const search::Vector>(std::move(fetched.vectors[i]));
      remember_refused();
    } else if (tries_plain_text) {
      note_failure(fetched.why);
      co_return false;
    } else if (batch.size() > 1) {
      batches.push_front(batch.subspan(batch.size() / 2));
      batches.push_front(batch.first(batch.size() / 2));
    } else {
      suspects.push_back(all.keys[batch.front()]);
      log::info("the embedding endpoint does not take the text of a tool, which is found by its words alone: {}",
                fetched.why);
    }
  }
  co_return true;
}

Task<Embeddings::Fetched> Embeddings::fetch(EmbeddingEndpoint endpoint, std::vector<std::string> texts,
                                            std::chrono::milliseconds most) {
  auto fetched = co_await ask(endpoint, std::move(texts), most);
  if (fetched.outcome == Fetched::Outcome::failed) note_failure(fetched.why);
  if (fetched.outcome != Fetched::Outcome::good) co_return fetched;
  note_success();
  const std::scoped_lock lock(mutex_);
  if (endpoint_ == endpoint && !fetched.vectors.empty()) components_ = fetched.vectors.front().size();
  co_return fetched;
}

Task<Embeddings::Fetched> Embeddings::ask(EmbeddingEndpoint endpoint, std::vector<std::string> texts,
                                          std::chrono::milliseconds most) {
  const auto failed = [](const Error& error) { return Fetched{.why = error.message()}; };
  const auto url = net::Url::parse(endpoint.url);
  if (!url) co_return failed(url.error());
  const std::string authorization = fmt::format("Bearer {}", endpoint.token.reveal());
  std::vector<net::Field> fields = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  if (!endpoint.token.empty()) fields.push_back({"Authorization", authorization});
  const std::string body = search::embeddings_request(endpoint.model, texts);
  const std::array<std::string_view, 1> parts = {body};
  auto response = co_await http_.send({.url = *url,
                                       .method = "POST",
                                       .fields = fields,
                                       .body = parts,
                                       .deadlines = {.connect = most, .head = most, .whole = most}});
  if (!response) co_return failed(response.error());
  const auto status = response->status();
  if (status != 200) {
    // All others are about the endpoint, its URL or its token.
    const bool is_about_text = status == 400 || status == 413 || status == 422;
    co_return Fetched{.outcome = is_about_text ? Fetched::Outcome::refused : Fetched::Outcome::failed,
                      .why = fmt::format("it answered {}", status)};
  }
  const auto answer = co_await response->read_all(kMostAnswer);
  if (!answer) co_return failed(answer.error());
  std::size_t components = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (endpoint_ == endpoint) components = components_;
  }
  auto vectors = co_await dependencies_.background.run([text = std::string(*answer), count = texts.size(), components] {
    return search::read_embeddings(text, count, components);
  });
  if (!vectors) co_return failed(vectors.error());
  co_return Fetched{.outcome = Fetched::Outcome::good, .vectors = std::move(*vectors)};
}

void Embeddings::note_success() {
  const std::scoped_lock lock(mutex_);
  if (!status_.fault.empty()) log::info("the embedding endpoint answers again");
  status_.fault.clear();
}

void Embeddings::note_failure(std::string_view why) {
  const std::scoped_lock lock(mutex_);
  std::string fault = log::printable(why, 300);
  if (status_.fault.empty())
    log::warning("the embedding endpoint is of no use, and search ranks by words alone: {}", fault);
  ++status_.failures;
  status_.fault = std::move(fault);
  ask_again_ = dependencies_.clock.now() + kRest;
}

Task<std::vector<VectorPointer>> Embeddings::of_queries(std::vector<std::string> texts) {
  std::vector<VectorPointer> vectors(texts.size());
  std::vector<json::Digest> keys(texts.size());
  EmbeddingEndpoint endpoint;
  std::vector<std::size_t> missing;
  std::vector<std::string> asked;
  {
    const std::scoped_lock lock(mutex_);
    if (!endpoint_) co_return vectors;
    endpoint = *endpoint_;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::string text = cut(std::move(texts[i]));
      keys[i] = search::embedding_key(endpoint.model, text);
      const auto found = std::ranges::find(queries_, keys[i], [](const auto& query) { return query.first; });
      if (found != queries_.end()) {
        vectors[i] = found->second;
      } else {
        missing.push_back(i);
        asked.push_back(std::move(text));
      }
    }
    if (missing.empty() || dependencies_.clock.now() < ask_again_) co_return vectors;
  }
  auto fetched =
      co_await asio::co_spawn(dependencies_.control, fetch_queries(endpoint, std::move(asked)), asio::use_awaitable);
  const std::scoped_lock lock(mutex_);
  if (endpoint_ != endpoint) co_return vectors;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (!fetched[i]) continue;
    vectors[missing[i]] = std::move(fetched[i]);
    queries_.emplace_back(keys[missing[i]], vectors[missing[i]]);
    if (queries_.size() > kQueriesKept) queries_.pop_front();
  }
  co_return vectors;
}

Task<std::vector<VectorPointer>> Embeddings::fetch_queries(EmbeddingEndpoint endpoint, std::vector<std::string> texts) {
  const auto began = dependencies_.clock.now();
  std::vector<VectorPointer> vectors(texts.size());
  auto together = co_await fetch(endpoint, texts, dependencies_.patience);
  for (std::size_t i = 0; i < together.vectors.size(); ++i)
    vectors[i] = std::make_shared<const search::Vector>(std::move(together.vectors[i]));
  if (together.outcome != Fetched::Outcome::refused || texts.size() == 1) co_return vectors;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto left =
        std::chrono::floor<std::chrono::milliseconds>(began + dependencies_.patience - dependencies_.clock.now());
    if (left.count() <= 0) break;
    // Not by `fetch`: what does not answer in the rest of the time is not noted as a failure.
    auto alone = co_await ask(endpoint, {std::move(texts[i])}, left);
    if (alone.outcome == Fetched::Outcome::failed) break;
    if (!alone.vectors.empty()) vectors[i] = std::make_shared<const search::Vector>(std::move(alone.vectors.front()));
  }
  co_return vectors;
}

void Embeddings::drop_unused_since(Clock::Monotonic time) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [&](const auto& entry) { return entry.second.used < time || entry.second.of.expired(); });
  std::erase_if(by_key_, [](const auto& entry) { return entry.second.expired(); });
}

Embeddings::Status Embeddings::status() const {
  const std::scoped_lock lock(mutex_);
  Status status = status_;
  status.tools = static_cast<std::size_t>(
      std::ranges::count_if(by_key_, [](const auto& entry) { return !entry.second.expired(); }));
  return status;
}

Task<> Embeddings::stop() {
  tasks_.cancel();
  co_await tasks_.join();
  http_.close();
}

}  // namespace proteus::gateway
