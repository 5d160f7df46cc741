#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/meant.hpp"
#include "search/query.hpp"
#include "search/rank.hpp"
#include "search/sources.hpp"
#include "search/top_hits.hpp"
#include "search/tuning.hpp"

namespace proteus::search {

// Scores one query, or one step of a task, over everything visible. `sources` and `tuning` must outlive it.
class Scoring {
 public:
  Scoring(const Sources& sources, const Tuning& tuning);

  // Returns at most `limit` hits, sorted. A part has at most `share` of them, as long as other parts have hits.
  std::vector<Hit> best(const Query::Step& step, std::size_t limit, std::size_t share);

 private:
  // The postings of an alternative in one source, or in what describes the part.
  struct Match {
    std::uint32_t source;  // index into the sources of the part
    std::uint32_t word;    // index of the concept
    float weight;
    std::uint32_t about;  // impact that all tools of the part have
    std::span<const ListIndex::Posting> postings;
  };
  // The matches of one part are contiguous, and sorted by source and concept.
  struct PartMatches {
    std::uint32_t part;
    std::size_t begin;
    std::size_t end;
    float most = 0;  // upper bound of the scores in the part
  };
  using Matches = std::span<const Match>;

  Query::Step corrected(const Query::Step& step);
  void find(const Query::Step& step);
  void find(const Query::Step& step, std::size_t part);
  void weigh(const Query::Step& step);
  void bound(PartMatches& part) const;
  void score_part(const PartMatches& part);
  void score_source(std::uint32_t part, const Source& source, Matches matches);
  float add_concept(const Source& source, Matches matches, float rarity);
  void add_to(std::uint32_t at, float score);
  void offer(std::uint32_t part, const Source& source, float all);

  const Sources& sources_;
  const Tuning& tuning_;
  std::array<float, 2 * ListIndex::kMaxImpact + 1> saturated_;
  std::vector<Match> matches_;
  std::vector<PartMatches> parts_;
  std::vector<std::size_t> tools_;  // number of tools that have a concept, by concept
  std::vector<float> rarity_;       // by concept
  std::vector<float> scores_;       // by position; zero between sources
  std::vector<float> fits_;         // of one concept; zero between concepts
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint32_t> fitting_;
  WorkLeft spelling_left_;
  // State of the current call of `best`.
  std::size_t limit_ = 0;
  TopHits best_{0};
  TopHits of_part_{0};
  TopHits beyond_share_{0};
};

}  // namespace proteus::search
