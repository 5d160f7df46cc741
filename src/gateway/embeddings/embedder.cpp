#include "gateway/embeddings/embedder.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/delivery.hpp"
#include "base/log.hpp"
#include "base/waiting.hpp"
#include "search/embeddings.hpp"

namespace proteus::gateway {
namespace {

using namespace std::chrono_literals;
using catalog::Kind;
using search::VectorPointer;

constexpr net::RequestDeadlines kAside{.connect = 5s, .head = 30s, .whole = 60s};
constexpr net::RequestDeadlines kWaitedFor{
    .connect = Embedder::kPatience, .head = Embedder::kPatience, .whole = Embedder::kPatience};
// Of 64 vectors of 8,192 components with all their digits.
constexpr std::size_t kMaxAnswer = std::size_t{16} * 1024 * 1024;

std::string setting_of(const std::string& upstream) { return "search.embeddings." + upstream; }

}  // namespace

Embedder::Embedder(const Executor& home, net::HttpClient& http, store::Store& store, const Clock& clock,
                   EmbedderSettings settings)
    : home_(home), http_(http), store_(store), clock_(clock), settings_(std::move(settings)), tasks_(home) {}

Embedder::Vectors Embedder::find(const catalog::Snapshot& snapshot) {
  std::weak_ptr<const catalog::Snapshot> of = snapshot.weak_from_this();
  if (of.expired()) return nullptr;
  const std::scoped_lock lock(mutex_);
  if (is_closed_) return nullptr;
  const auto found = kept_.find(&snapshot);
  if (found != kept_.end() && !found->second.of.expired()) {
    found->second.used = clock_.recent();
    return found->second.vectors;
  }
  kept_.insert_or_assign(&snapshot, Kept{of, nullptr, clock_.recent()});
  boost::asio::post(home_, [this, of = std::move(of)]() mutable { want(std::move(of)); });
  return nullptr;
}

Task<std::optional<search::Vector>> Embedder::of_query(std::string text) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_closed_ || clock_.now() < down_until_) co_return std::nullopt;
  }
  const auto delivery = std::make_shared<Delivery<Asked>>();
  boost::asio::post(home_, [this, delivery, text = std::move(text)]() mutable {
    // One that is cancelled leaves its caller to the deadline.
    tasks_.spawn("an embedding of a query",
                 [](Embedder& self, std::shared_ptr<Delivery<Asked>> to, std::string of) -> Task<> {
                   std::vector<std::string> texts;
                   texts.push_back(std::move(of));
                   auto asked = co_await self.ask(std::move(texts), kWaitedFor);
                   self.report(asked ? Result<>() : std::unexpected(asked.error()));
                   to->deliver(std::move(asked));
                 }(*this, delivery, std::move(text)));
  });
  auto asked = co_await Delivery<Asked>::receive_until(delivery, std::chrono::steady_clock::now() + kPatience);
  if (!asked || !*asked) co_return std::nullopt;
  co_return std::move((*asked)->front());
}

std::string Embedder::fault() const {
  const std::scoped_lock lock(mutex_);
  return fault_;
}

void Embedder::drop_unused_since(Clock::Monotonic time) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(kept_, [&](const auto& entry) { return entry.second.used < time || entry.second.of.expired(); });
}

Task<> Embedder::close() {
  {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
  }
  tasks_.cancel();
  co_await tasks_.join();
}

void Embedder::want(std::weak_ptr<const catalog::Snapshot> snapshot) {
  wanted_.push_back(std::move(snapshot));
  if (is_working_) return;
  is_working_ = true;
  tasks_.spawn("embeddings", work());
}

Task<> Embedder::work() {
  struct Ending {
    bool& is_working;
    ~Ending() { is_working = false; }
  };
  const Ending ending{is_working_};
  std::chrono::seconds pause = kFirstPause;
  while (!wanted_.empty()) {
    const catalog::SnapshotPointer snapshot = wanted_.front().lock();
    if (snapshot) {
      const auto outcome = co_await embed(snapshot);
      report(outcome);
      if (!outcome) {
        co_await sleep_for(pause);
        pause = std::min(2 * pause, kLongestPause);
        continue;
      }
      pause = kFirstPause;
    }
    wanted_.pop_front();
  }
}

Task<Result<>> Embedder::embed(catalog::SnapshotPointer snapshot) {
  const std::string& upstream = snapshot->upstream().value();
  const catalog::DefinitionList& list = snapshot->list(Kind::tool);
  const auto stored = co_await load(upstream);  // keeps what it holds until it is used
  std::vector<VectorPointer> vectors(list.size());
  bool is_new = false;
  for (std::size_t begin = 0; begin < list.size(); begin += search::kEmbeddedAtOnce) {
    std::vector<std::string> texts;
    std::vector<std::size_t> missing;
    const std::size_t end = std::min(begin + search::kEmbeddedAtOnce, list.size());
    for (std::size_t i = begin; i < end; ++i) {
      std::string text = search::embedded_text(upstream, list, list[i]);
      vectors[i] = known_.find(search::embedding_key(settings_.model, text));
      if (vectors[i]) continue;
      missing.push_back(i);
      texts.push_back(std::move(text));
    }
    if (missing.empty()) continue;
    auto asked = co_await ask(texts, kAside);
    if (!asked) {
      keep(*snapshot, std::move(vectors));
      co_return std::unexpected(std::move(asked.error()));
    }
    is_new = true;
    for (std::size_t i = 0; i < missing.size(); ++i) {
      vectors[missing[i]] = known_.share(search::embedding_key(settings_.model, texts[i]),
                                         std::make_shared<const search::Vector>(std::move((*asked)[i])));
    }
  }
  keep(*snapshot, std::move(vectors));
  if (is_new) co_await save(upstream);
  co_return Result<>();
}

void Embedder::keep(const catalog::Snapshot& snapshot, std::vector<VectorPointer> vectors) {
  auto shared = std::make_shared<const std::vector<VectorPointer>>(std::move(vectors));
  const std::scoped_lock lock(mutex_);
  kept_.insert_or_assign(&snapshot, Kept{snapshot.weak_from_this(), std::move(shared), clock_.recent()});
}

Task<std::vector<VectorPointer>> Embedder::load(std::string upstream) {
  std::vector<VectorPointer> stored;
  const auto text = co_await store_.setting(setting_of(upstream));
  if (!text || !*text) co_return stored;
  for (const auto& one : search::unpack(**text)) {
    if (components_ == 0) components_ = one.vector->size();
    if (one.vector->size() == components_) stored.push_back(known_.share(one.key, one.vector));
  }
  co_return stored;
}

// All that is known of the upstream's tools, in whichever words callers see them.
Task<> Embedder::save(std::string upstream) {
  std::vector<search::KeyedVector> vectors;
  std::vector<std::pair<catalog::SnapshotPointer, Vectors>> sources;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [address, kept] : kept_) {
      auto snapshot = kept.of.lock();
      if (snapshot && kept.vectors && snapshot->upstream().value() == upstream)
        sources.emplace_back(std::move(snapshot), kept.vectors);
    }
  }
  std::set<json::Digest> packed;
  for (const auto& [snapshot, known] : sources) {
    const catalog::DefinitionList& list = snapshot->list(Kind::tool);
    for (std::size_t i = 0; i < known->size(); ++i) {
      const auto key = search::embedding_key(settings_.model, search::embedded_text(upstream, list, list[i]));
      if ((*known)[i] && packed.insert(key).second) vectors.push_back({key, (*known)[i]});
    }
  }
  const auto written = co_await store_.put(store::Setting{setting_of(upstream), search::pack(vectors)});
  if (!written) log::warning("embeddings of {} were not kept: {}", upstream, written.error().message());
}

Task<Embedder::Asked> Embedder::ask(std::vector<std::string> texts, net::RequestDeadlines deadlines) {
  const std::string request = search::embeddings_request(settings_.model, texts);
  const Secret authorization("Bearer " + settings_.token.reveal());
  std::vector<net::Field> fields = {
      {"Content-Type", "application/json"}, {"Accept", "application/json"}, {"Accept-Encoding", "identity"}};
  if (!settings_.token.reveal().empty()) fields.push_back({"Authorization", authorization.reveal()});
  const std::array<std::string_view, 1> body = {request};
  auto response = co_await http_.send(
      {.url = settings_.url, .method = "POST", .fields = fields, .body = body, .deadlines = deadlines});
  if (!response) co_return std::unexpected(std::move(response.error()).within(settings_.url.text()));
  if (response->status() != 200) {
    co_return std::unexpected(
        errors::unavailable(fmt::format("{} answered {}", settings_.url.text(), response->status())));
  }
  const auto answer = co_await response->read_all(kMaxAnswer);
  if (!answer) co_return std::unexpected(Error(answer.error()).within(settings_.url.text()));
  auto read = search::read_embeddings(*answer, texts.size(), components_);
  if (read) components_ = read->front().size();
  co_return read;
}

void Embedder::report(const Result<>& outcome) {
  const std::scoped_lock lock(mutex_);
  std::string fault = outcome ? "" : outcome.error().message();
  down_until_ = outcome ? Clock::Monotonic{} : clock_.now() + kFirstPause;
  if (fault == fault_) return;
  fault_ = std::move(fault);
  if (fault_.empty()) {
    log::info("the embedding endpoint answers again");
  } else {
    log::warning("search goes on without embeddings: {}", fault_);
  }
}

}  // namespace proteus::gateway
