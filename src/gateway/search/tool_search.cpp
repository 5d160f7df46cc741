#include "gateway/search/tool_search.hpp"

#include <algorithm>

#include "base/settings/nearest.hpp"
#include "gateway/search/signature.hpp"
#include "json/text.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;
using Parts = std::vector<catalog::View::Part>;

// Agents pause to think between searches.
constexpr std::chrono::minutes kKept{10};

constexpr std::size_t kConsidered = 3;
constexpr std::size_t kConsideredNames = 20;

// Returns owners of the snapshots for work on background threads, which may outlive the coroutine that awaits it.
std::vector<catalog::SnapshotPointer> owners_of(const Parts& parts) {
  std::vector<catalog::SnapshotPointer> owners;
  owners.reserve(parts.size());
  for (const auto& part : parts)
    owners.push_back(part.snapshot->shared_from_this());
  return owners;
}

// A definition's text with its upstream.
struct Found {
  std::string name;
  std::string upstream;
  std::string text;
  bool read_only;
  float score;
};

ToolHit to_hit(Found found) {
  ToolHit hit{.name = std::move(found.name),
              .upstream = std::move(found.upstream),
              .signature = {},
              .description = {},
              .read_only = found.read_only,
              .score = found.score};
  const auto definition = json::parse(found.text);
  const auto* const tool = definition ? definition->if_object() : nullptr;
  const auto* const schema = tool != nullptr ? tool->if_contains("inputSchema") : nullptr;
  hit.signature = signature_of(hit.name, schema != nullptr ? *schema : boost::json::value());
  for (const char* key : {"description", "title"}) {
    const auto* const text = tool != nullptr ? tool->if_contains(key) : nullptr;
    if (text != nullptr && text->is_string() && hit.description.empty()) hit.description = brief(text->get_string());
  }
  return hit;
}

}  // namespace

Task<std::vector<search::Visible>> ToolSearch::visible(const UsableTools& tools) {
  Parts kept;
  Parts live;
  for (std::size_t i = 0; i < tools.parts().size(); ++i)
    (tools.is_live(i) ? live : kept).push_back(tools.parts()[i]);
  auto indexed = indexes_.find(kept);
  if (!indexed) {
    indexed = co_await background_.run([this, kept, owners = owners_of(kept)] { return indexes_.build(kept); });
  }
  if (live.empty()) co_return std::move(*indexed);
  std::size_t bytes = 0;
  for (const auto& part : live)
    bytes += part.snapshot->list(Kind::tool).joined().size();
  const auto fresh = co_await background_.run(bytes, [this, live, owners = owners_of(live)] {
    std::vector<search::SnapshotIndex::Pointer> made;
    made.reserve(live.size());
    for (const auto& part : live)
      made.push_back(search::SnapshotIndex::build(*part.snapshot, more_ ? more_(*part.snapshot) : "", tuning()));
    return made;
  });
  std::vector<search::Visible> all;
  all.reserve(tools.parts().size());
  for (std::size_t i = 0, old = 0, next = 0; i < tools.parts().size(); ++i) {
    if (tools.is_live(i)) {
      all.push_back({fresh[next++], tools.parts()[i].lost});
    } else {
      all.push_back((*indexed)[old++]);
      // A live list may hold the name in front of this tool.
      all.back().lost = tools.parts()[i].lost;
    }
  }
  co_return all;
}

Task<std::vector<std::vector<search::Hit>>> ToolSearch::rank_by_meaning(const UsableTools& tools,
                                                                        std::span<const std::string_view> queries,
                                                                        std::size_t limit) {
  std::vector<std::vector<search::Hit>> rankings;
  if (embeddings_ == nullptr || !embeddings_->enabled()) co_return rankings;
  std::vector<Embeddings::Vectors> held;
  std::vector<search::VisibleVectors> seen;
  for (std::size_t i = 0; i < tools.parts().size(); ++i) {
    // A live list is read for each search, and would be sent to the endpoint each time.
    held.push_back(tools.is_live(i) ? nullptr : embeddings_->of(*tools.parts()[i].snapshot));
    const auto& vectors = held.back();
    seen.push_back(
        {vectors ? std::span<const search::VectorPointer>(*vectors) : std::span<const search::VectorPointer>(),
         tools.parts()[i].lost});
  }
  if (std::ranges::none_of(held, [](const auto& vectors) { return vectors != nullptr; })) co_return rankings;
  for (const auto& vector : co_await embeddings_->of_queries({queries.begin(), queries.end()})) {
    if (vector) rankings.push_back(search::rank(seen, *vector, limit));
  }
  co_return rankings;
}

Task<Result<std::vector<ToolHit>>> ToolSearch::find(const UsableTools& tools, std::span<const std::string_view> queries,
                                                    std::size_t limit) {
  const auto query = search::Query::read(queries, tuning());
  if (!query) co_return std::unexpected(query.error());
  // Ranks more than requested, so that a tool that several rankings agree on can win without being first in any.
  auto rankings = co_await rank_by_meaning(tools, queries, kConsidered * limit);
  const auto seen = co_await visible(tools);
  auto hits = search::rank(seen, *query, rankings.empty() ? limit : kConsidered * limit, tuning());
  if (!rankings.empty()) {
    rankings.push_back(std::move(hits));
    hits = search::fuse(rankings, limit, tuning().fusion);
  }
  std::vector<Found> found;
  found.reserve(hits.size());
  std::size_t bytes = 0;
  for (const search::Hit& hit : hits) {
    const catalog::Snapshot& snapshot = *tools.parts()[hit.part].snapshot;
    const catalog::Definition& tool = snapshot.list(Kind::tool)[hit.position];
    bytes += tool.text.size();
    found.push_back(
        {std::string(tool.shown), snapshot.upstream().value(), std::string(tool.text), tool.read_only, hit.score});
  }
  co_return co_await background_.run(bytes / 8, [found = std::move(found)]() mutable {
    std::vector<ToolHit> made;
    made.reserve(found.size());
    for (auto& one : found)
      made.push_back(to_hit(std::move(one)));
    return made;
  });
}

Task<std::vector<ToolSearch::Names>> ToolSearch::nearest(const UsableTools& tools,
                                                         std::span<const std::string_view> names, std::size_t limit) {
  std::vector<Names> all;
  if (names.empty()) co_return all;
  const auto seen = co_await visible(tools);
  for (const std::string_view name : names) {
    std::vector<std::string_view> like;
    if (const auto query = search::Query::read(name.substr(0, catalog::kLongestToolName), tuning())) {
      for (const search::Hit& hit : search::rank(seen, *query, kConsideredNames, tuning()))
        like.push_back(tools.parts()[hit.part].snapshot->list(Kind::tool)[hit.position].shown);
    }
    // Of the names that share a word with `name`, one that differs only by a slip comes first.
    const auto slipped = std::ranges::find(like, proteus::nearest(name, like));
    if (slipped != like.end()) std::rotate(like.begin(), slipped, slipped + 1);
    like.resize(std::min(like.size(), limit));
    all.emplace_back(like.begin(), like.end());
  }
  co_return all;
}

void ToolSearch::drop_unused_since(Clock::Monotonic time) {
  indexes_.drop_unused_since(time - kKept);
  if (embeddings_ != nullptr) embeddings_->drop_unused_since(time - kKept);
}

}  // namespace proteus::gateway
