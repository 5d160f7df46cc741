#include "search/rank.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "search/scoring.hpp"
#include "search/sources.hpp"
#include "search/top_hits.hpp"

namespace proteus::search {
namespace {

// The ranking of each step is this many times longer than the result, because steps may agree further down.
constexpr std::size_t kDeeper = 2;

std::size_t share_of(std::size_t limit) { return limit - limit / 4; }

}  // namespace

std::vector<Hit> rank(std::span<const Visible> parts, const Query& query, std::size_t limit, const Tuning& tuning) {
  const Sources sources(parts);
  limit = std::min(limit, sources.seen());
  if (limit == 0) return {};
  Scoring scoring(sources, tuning);
  const auto& steps = query.steps();
  if (steps.size() == 1) return scoring.best(steps.front(), limit, share_of(limit));
  std::vector<std::vector<Hit>> rankings;
  rankings.reserve(steps.size());
  for (const Query::Step& step : steps)
    rankings.push_back(scoring.best(step, limit * kDeeper, share_of(limit * kDeeper)));
  return fuse(rankings, limit, tuning.fusion);
}

std::vector<Hit> fuse(std::span<const std::vector<Hit>> rankings, std::size_t limit, float fusion) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, float> scores;
  for (const auto& ranking : rankings) {
    for (std::size_t i = 0; i < ranking.size(); ++i)
      scores[{ranking[i].part, ranking[i].position}] += 1 / (fusion + static_cast<float>(i + 1));
  }
  std::vector<Hit> all;
  all.reserve(scores.size());
  for (const auto& [place, score] : scores)
    all.push_back({place.first, place.second, score});
  std::ranges::sort(all, comes_before);
  // No part gets all places, as in a single ranking.
  std::map<std::uint32_t, std::size_t> taken;
  std::vector<Hit> fused;
  std::vector<Hit> beyond_share;
  for (const Hit& hit : all)
    (++taken[hit.part] <= share_of(limit) ? fused : beyond_share).push_back(hit);
  fused.insert(fused.end(), beyond_share.begin(), beyond_share.end());
  fused.resize(std::min(fused.size(), limit));
  std::ranges::sort(fused, comes_before);
  return fused;
}

}  // namespace proteus::search
