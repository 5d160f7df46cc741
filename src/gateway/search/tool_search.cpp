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

// Comparing the meanings of a query and a tool takes about as long as ranking this many tools by one query's words.
constexpr std::size_t kMeaning = 8;

// Returns what ranking by this many queries costs, for BackgroundThreads: a tool counts as a byte, so that one query
// among ten thousand tools is ranked at once.
std::size_t cost_of(std::span<const search::Visible> seen, std::size_t queries) {
  std::size_t tools = 0;
  for (const auto& part : seen)
    tools += part.index->size();
  return tools * queries;
}

std::vector<std::string> nearest_to(std::string_view name, const UsableTools& tools,
                                    std::span<const search::Visible> seen, std::size_t limit,
                                    const search::Tuning& tuning) {
  std::vector<std::string_view> like;
  if (const auto query = search::Query::read(name.substr(0, catalog::kLongestToolName), tuning)) {
    for (const search::Hit& hit : search::rank(seen, *query, kConsideredNames, tuning))
      like.push_back(tools.parts()[hit.part].snapshot->list(Kind::tool)[hit.position].shown);
  }
  // Of the names that share a word with `name`, one that differs only by a slip comes first.
  const auto slipped = std::ranges::find(like, proteus::nearest(name, like));
  if (slipped != like.end()) std::rotate(like.begin(), slipped, slipped + 1);
  like.resize(std::min(like.size(), limit));
  return {like.begin(), like.end()};
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

// Vectors of queries, and of the tools to compare them with.
struct ToolSearch::Meanings {
  std::vector<Embeddings::Vectors> tools;      // by part; null where none are known
  std::vector<search::VectorPointer> queries;  // of those that have one

  std::vector<std::vector<search::Hit>> rank(const UsableTools& among, std::size_t limit) const {
    std::vector<search::VisibleVectors> seen;
    seen.reserve(tools.size());
    for (std::size_t i = 0; i < tools.size(); ++i) {
      seen.push_back(
          {tools[i] ? std::span<const search::VectorPointer>(*tools[i]) : std::span<const search::VectorPointer>(),
           among.parts()[i].lost});
    }
    std::vector<std::vector<search::Hit>> rankings;
    rankings.reserve(queries.size());
    for (const auto& query : queries)
      rankings.push_back(search::rank(seen, *query, limit));
    return rankings;
  }
};

Task<std::vector<search::Visible>> ToolSearch::visible(Tools usable) {
  const UsableTools& tools = *usable;
  Parts kept;
  Parts live;
  for (std::size_t i = 0; i < tools.parts().size(); ++i)
    (tools.is_live(i) ? live : kept).push_back(tools.parts()[i]);
  auto indexed = indexes_.find(kept);
  if (!indexed) indexed = co_await background_.run([this, kept, owner = usable] { return indexes_.build(kept); });
  if (live.empty()) co_return std::move(*indexed);
  std::size_t bytes = 0;
  for (const auto& part : live)
    bytes += part.snapshot->list(Kind::tool).joined().size();
  const auto fresh = co_await background_.run(bytes, [this, live, owner = usable] {
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

Task<ToolSearch::Meanings> ToolSearch::meanings(Tools tools, std::span<const std::string_view> queries) {
  Meanings known;
  if (embeddings_ == nullptr || !embeddings_->enabled()) co_return known;
  for (std::size_t i = 0; i < tools->parts().size(); ++i) {
    // A live list is read for each search, and would be sent to the endpoint each time.
    known.tools.push_back(tools->is_live(i) ? nullptr : embeddings_->of(*tools->parts()[i].snapshot));
  }
  if (std::ranges::none_of(known.tools, [](const auto& vectors) { return vectors != nullptr; })) co_return known;
  known.queries = co_await embeddings_->of_queries({queries.begin(), queries.end()});
  std::erase(known.queries, nullptr);
  co_return known;
}

Task<Result<std::vector<ToolHit>>> ToolSearch::find(Tools tools, std::span<const std::string_view> queries,
                                                    std::size_t limit) {
  auto query = search::Query::read(queries, tuning());
  if (!query) co_return std::unexpected(query.error());
  auto meant = co_await meanings(tools, queries);
  auto seen = co_await visible(tools);
  const std::size_t cost = cost_of(seen, query->steps().size() + kMeaning * meant.queries.size());
  const auto hits = co_await background_.run(cost, [tools, seen = std::move(seen), query = std::move(*query),
                                                    meant = std::move(meant), limit, tuning = tuning()] {
    if (meant.queries.empty()) return search::rank(seen, query, limit, tuning);
    // Ranks more than requested, so that a tool that several rankings agree on can win without being first in any.
    auto rankings = meant.rank(*tools, kConsidered * limit);
    rankings.push_back(search::rank(seen, query, kConsidered * limit, tuning));
    return search::fuse(rankings, limit, tuning.fusion);
  });
  std::vector<Found> found;
  found.reserve(hits.size());
  std::size_t bytes = 0;
  for (const search::Hit& hit : hits) {
    const catalog::Snapshot& snapshot = *tools->parts()[hit.part].snapshot;
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

// Each name is a search, and a caller with wrong names can wait.
Task<std::vector<ToolSearch::Names>> ToolSearch::nearest(Tools tools, std::span<const std::string_view> names,
                                                         std::size_t limit) {
  if (names.empty()) co_return std::vector<Names>();
  auto seen = co_await visible(tools);
  co_return co_await background_.run(
      [tools, seen = std::move(seen), given = Names(names.begin(), names.end()), limit, tuning = tuning()] {
        std::vector<Names> all;
        all.reserve(given.size());
        for (const auto& name : given)
          all.push_back(nearest_to(name, *tools, seen, limit, tuning));
        return all;
      });
}

void ToolSearch::drop_unused_since(Clock::Monotonic time) {
  indexes_.drop_unused_since(time - kKept);
  if (embeddings_ != nullptr) embeddings_->drop_unused_since(time - kKept);
}

}  // namespace proteus::gateway
