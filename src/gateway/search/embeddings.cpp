#include "gateway/search/embeddings.hpp"

#include <algorithm>
#include <array>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "base/log.hpp"
#include "search/embeddings.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;
using catalog::Kind;
using search::VectorPointer;

// A search waits no longer than this; nobody waits for the vectors of tools.
constexpr std::chrono::milliseconds kForQuery = 400ms;
constexpr std::chrono::milliseconds kForTools = 20s;
// After a failure, so that searches do not wait again and again.
constexpr std::chrono::seconds kRest{5};
constexpr std::size_t kMostAnswer = std::size_t{16} << 20U;
constexpr std::size_t kQueriesKept = 64;
// Vectors of definitions that are not there any more, of one upstream.
constexpr std::size_t kOldKept = 1000;
// Of one text: models read no more, and a hostile description is not worth sending.
constexpr std::size_t kMostText = std::size_t{8} << 10U;

std::string stored_under(std::string_view upstream) { return fmt::format("search vectors of {}", upstream); }

std::string cut(std::string text) {
  if (text.size() <= kMostText) return text;
  text.resize(kMostText);
  // The middle of a character is no character.
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U)
    text.pop_back();
  if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) text.pop_back();
  return text;
}

}  // namespace

struct Embeddings::Texts {
  std::vector<std::string> texts;  // by position
  std::vector<json::Digest> keys;
  std::vector<VectorPointer> vectors;
};

Embeddings::Embeddings(Dependencies dependencies)
    : dependencies_(std::move(dependencies)),
      http_(dependencies_.control, dependencies_.clock, dependencies_.http),
      tasks_(dependencies_.control.get_executor()) {}

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
  asio::post(dependencies_.control, [this] { components_ = 0; });
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
  // Another snapshot may stand where one was that is gone.
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

// One after the other, so that an endpoint has one request of ours at a time.
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
      complete = complete && all.vectors[i];
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
  ByKey stored;
  if (!whole) {
    stored = co_await recall(snapshot->upstream());
    whole = take([&](const json::Digest& key) {
      const auto found = stored.find(key);
      return found != stored.end() ? found->second : nullptr;
    });
  }
  if (!whole) {
    whole = co_await fetch_missing(endpoint, all);
    // Before anybody uses them: a gateway that stops then does not send them again.
    co_await keep(snapshot->upstream(), all, std::move(stored));
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
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < all.vectors.size(); ++i) {
    if (!all.vectors[i]) missing.push_back(i);
  }
  for (std::size_t begin = 0; begin < missing.size(); begin += search::kEmbeddedAtOnce) {
    const std::size_t end = std::min(begin + search::kEmbeddedAtOnce, missing.size());
    std::vector<std::string> texts;
    for (std::size_t i = begin; i < end; ++i)
      texts.push_back(all.texts[missing[i]]);
    auto fetched = co_await fetch(endpoint, std::move(texts), kForTools);
    if (!fetched) co_return false;
    for (std::size_t i = begin; i < end; ++i)
      all.vectors[missing[i]] = std::make_shared<const search::Vector>(std::move((*fetched)[i - begin]));
  }
  co_return true;
}

Task<Embeddings::ByKey> Embeddings::recall(const catalog::UpstreamName& upstream) {
  ByKey found;
  if (!dependencies_.lasts(upstream)) co_return found;
  const auto stored = co_await dependencies_.store.setting(stored_under(upstream.value()));
  if (!stored || !*stored) co_return found;
  co_return co_await dependencies_.background.run([text = **stored] {
    ByKey all;
    for (auto& [key, vector] : search::unpack(text))
      all.emplace(key, std::move(vector));
    return all;
  });
}

// Together with what was kept before, which may be for another context; but not for ever.
Task<> Embeddings::keep(const catalog::UpstreamName& upstream, const Texts& texts, ByKey before) {
  if (!dependencies_.lasts(upstream)) co_return;
  if (before.size() > kOldKept + 2 * texts.keys.size()) before.clear();
  bool news = false;
  for (std::size_t i = 0; i < texts.keys.size(); ++i) {
    if (texts.vectors[i]) news |= before.insert_or_assign(texts.keys[i], texts.vectors[i]).second;
  }
  if (!news) co_return;
  std::string text = co_await dependencies_.background.run([all = std::move(before)] {
    std::vector<search::KeyedVector> written;
    written.reserve(all.size());
    for (const auto& [key, vector] : all)
      written.push_back({key, vector});
    return search::pack(written);
  });
  const auto kept = co_await dependencies_.store.put(store::Setting{stored_under(upstream.value()), std::move(text)});
  if (!kept) log::warning("the vectors of upstream {} are not kept: {}", upstream.value(), kept.error().message());
}

Task<Result<std::vector<search::Vector>>> Embeddings::fetch(const EmbeddingEndpoint& endpoint,
                                                            std::vector<std::string> texts,
                                                            std::chrono::milliseconds most) {
  const auto failed = [this](Error error) -> Result<std::vector<search::Vector>> {
    return std::unexpected(note(std::unexpected(std::move(error))).error());
  };
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
  if (!response) co_return failed(std::move(response.error()));
  if (response->status() != 200) co_return failed(errors::protocol(fmt::format("it answered {}", response->status())));
  const auto answer = co_await response->read_all(kMostAnswer);
  if (!answer) co_return failed(answer.error());
  auto vectors = co_await dependencies_.background.run(
      [text = std::string(*answer), count = texts.size(), components = components_] {
        return search::read_embeddings(text, count, components);
      });
  if (!vectors) co_return failed(std::move(vectors.error()));
  if (!vectors->empty()) components_ = vectors->front().size();
  (void)note({});
  co_return vectors;
}

Result<> Embeddings::note(Result<> outcome) {
  const std::scoped_lock lock(mutex_);
  if (outcome) {
    if (!status_.fault.empty()) log::info("the embedding endpoint answers again");
    status_.fault.clear();
    return outcome;
  }
  const std::string why = log::printable(outcome.error().message(), 300);
  if (status_.fault.empty())
    log::warning("the embedding endpoint is of no use, and search ranks by words alone: {}", why);
  ++status_.failures;
  status_.fault = why;
  ask_again_ = dependencies_.clock.now() + kRest;
  return outcome;
}

Task<Result<std::vector<search::Vector>>> Embeddings::fetch_query(Embeddings& self, EmbeddingEndpoint endpoint,
                                                                  std::string text) {
  std::vector<std::string> texts;
  texts.push_back(std::move(text));
  co_return co_await self.fetch(endpoint, std::move(texts), kForQuery);
}

Task<VectorPointer> Embeddings::of_query(std::string text) {
  text = cut(std::move(text));
  EmbeddingEndpoint endpoint;
  json::Digest key;
  {
    const std::scoped_lock lock(mutex_);
    if (!endpoint_) co_return nullptr;
    endpoint = *endpoint_;
    key = search::embedding_key(endpoint.model, text);
    const auto found = std::ranges::find(queries_, key, [](const auto& query) { return query.first; });
    if (found != queries_.end()) co_return found->second;
    if (dependencies_.clock.now() < ask_again_) co_return nullptr;
  }
  auto fetched = co_await asio::co_spawn(dependencies_.control, fetch_query(*this, endpoint, std::move(text)),
                                         asio::use_awaitable);
  if (!fetched || fetched->empty()) co_return nullptr;
  auto vector = std::make_shared<const search::Vector>(std::move(fetched->front()));
  const std::scoped_lock lock(mutex_);
  if (endpoint_ != endpoint) co_return nullptr;
  queries_.emplace_back(key, vector);
  if (queries_.size() > kQueriesKept) queries_.pop_front();
  co_return vector;
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
