#include "search/scoring.hpp"

#include <algorithm>
#include <cmath>

namespace proteus::search {
namespace {

// Most words without matches are names and numbers, not slips, and correcting a word takes time.
constexpr std::size_t kMostCorrected = 4;

}  // namespace

Scoring::Scoring(const Sources& sources, const Tuning& tuning)
    : sources_(sources), tuning_(tuning), scores_(sources.largest(), 0), fits_(sources.largest(), 0) {
  for (std::size_t i = 0; i < saturated_.size(); ++i) {
    const float frequency = static_cast<float>(i) / ListIndex::kImpactUnit;
    saturated_[i] = frequency / (frequency + tuning_.saturation);
  }
}

std::vector<Hit> Scoring::best(const Query::Step& step, std::size_t limit, std::size_t share) {
  limit_ = limit;
  best_ = TopHits(limit);
  of_part_ = TopHits(share);
  beyond_share_ = TopHits(limit);
  find(step);
  if (tuning_.misspelled > 0) {
    const Query::Step meant = corrected(step);
    if (!meant.empty()) find(meant);
  }
  weigh(step);
  for (PartMatches& part : parts_)
    bound(part);
  // Scores the parts with the highest bounds first, so that most of the others can be skipped.
  std::ranges::sort(parts_, [](const PartMatches& a, const PartMatches& b) { return a.most > b.most; });
  for (const PartMatches& part : parts_) {
    if (best_.full() && part.most < best_.last().score) break;
    score_part(part);
  }
  for (const Hit& hit : beyond_share_.take()) {
    if (best_.full()) break;
    best_.add(hit);
  }
  return best_.take();
}

// Returns the step with corrections of the words that nothing has; empty if there are no corrections.
Query::Step Scoring::corrected(const Query::Step& step) {
  Query::Step meant;
  std::size_t looked_for = 0;
  for (std::size_t i = 0; i < step.size() && looked_for < kMostCorrected; ++i) {
    if (tools_[i] > 0 || step[i].word.empty()) continue;
    ++looked_for;
    auto alternatives = meant_by(step[i].word, sources_, tuning_.misspelled, spelling_left_);
    if (alternatives.empty()) continue;
    if (meant.empty()) meant = step;
    meant[i].alternatives = std::move(alternatives);
  }
  return meant;
}

void Scoring::find(const Query::Step& step) {
  matches_.clear();
  parts_.clear();
  tools_.assign(step.size(), 0);
  for (std::size_t part = 0; part < sources_.parts(); ++part)
    find(step, part);
}

void Scoring::find(const Query::Step& step, std::size_t at) {
  const Sources::Part part = sources_.part(at);
  const std::size_t begin = matches_.size();
  for (std::uint32_t i = 0; i < part.sources.size(); ++i) {
    const Source& source = part.sources[i];
    for (std::uint32_t word = 0; word < step.size(); ++word) {
      for (const Query::Alternative& alternative : step[word].alternatives) {
        const bool maybe = part.about->may_have(alternative.term);
        const auto about = maybe ? part.about->find(alternative.term) : std::span<const ListIndex::Posting>();
        const auto postings = source.piece->index->find(alternative.term);
        if (about.empty() && postings.empty()) continue;
        tools_[word] += about.empty() ? source.count(postings) : source.seen;
        const std::uint32_t common = about.empty() ? 0U : about.front().impact;
        matches_.push_back({i, word, alternative.weight, common, postings});
      }
    }
  }
  if (matches_.size() > begin) parts_.push_back({static_cast<std::uint32_t>(at), begin, matches_.size()});
}

// BM25's inverse document frequency of a word and its synonyms together: what many tools say in other words is not
// rare.
void Scoring::weigh(const Query::Step& step) {
  rarity_.assign(step.size(), 0);
  const auto all = static_cast<float>(sources_.seen());
  for (std::size_t word = 0; word < step.size(); ++word) {
    const float having = std::min(static_cast<float>(tools_[word]), all);
    rarity_[word] = step[word].weight * std::log1p((all - having + 0.5F) / (having + 0.5F));
  }
  // What nearly every tool has decides nothing, and has the longest lists of postings.
  const float least = tuning_.negligible * std::ranges::max(rarity_);
  for (float& rarity : rarity_)
    rarity = rarity < least ? 0 : rarity;
}

// Sets the upper bound of a part's scores, as if one tool had each concept as often as possible.
void Scoring::bound(PartMatches& part) const {
  float sum = 0;
  float concept_most = 0;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const Match& match = matches_[i];
    if (i > part.begin && match.source != matches_[i - 1].source) {
      part.most = std::max(part.most, sum + concept_most);
      sum = concept_most = 0;
    } else if (i > part.begin && match.word != matches_[i - 1].word) {
      sum += concept_most;
      concept_most = 0;
    }
    concept_most = std::max(concept_most, match.weight * rarity_[match.word]);
  }
  part.most = std::max(part.most, sum + concept_most);
}

void Scoring::score_part(const PartMatches& part) {
  const Matches matches = Matches(matches_).subspan(part.begin, part.end - part.begin);
  const auto sources = sources_.part(part.part).sources;
  for (std::size_t begin = 0; begin < matches.size();) {
    std::size_t end = begin;
    while (end < matches.size() && matches[end].source == matches[begin].source)
      ++end;
    score_source(part.part, sources[matches[begin].source], matches.subspan(begin, end - begin));
    begin = end;
  }
  for (const Hit& hit : of_part_.hits())
    best_.add(hit);
  of_part_.clear();
}

void Scoring::score_source(std::uint32_t part, const Source& source, Matches matches) {
  float all = 0;
  for (std::size_t begin = 0; begin < matches.size();) {
    std::size_t end = begin;
    while (end < matches.size() && matches[end].word == matches[begin].word)
      ++end;
    const float rarity = rarity_[matches[begin].word];
    if (rarity == 0) {
      begin = end;
      continue;
    }
    all += add_concept(source, matches.subspan(begin, end - begin), rarity);
    begin = end;
  }
  offer(part, source, all);
  for (const std::uint32_t at : touched_)
    scores_[at] = 0;
  touched_.clear();
}

// Adds the best match of a concept to the score of each tool. Returns the part of the score that all tools have;
// scores_ gets only what exceeds it.
float Scoring::add_concept(const Source& source, Matches matches, float rarity) {
  float common = 0;
  for (const Match& match : matches)
    common = std::max(common, match.weight * saturated_[match.about]);
  const auto fit = [&](const Match& match, const ListIndex::Posting& posting) {
    return match.weight * saturated_[posting.impact + match.about] - common;
  };
  if (matches.size() == 1) {
    for (const ListIndex::Posting& posting : matches.front().postings) {
      if (source.sees(posting.position)) add_to(posting.position, rarity * fit(matches.front(), posting));
    }
    return rarity * common;
  }
  for (const Match& match : matches) {
    for (const ListIndex::Posting& posting : match.postings) {
      if (!source.sees(posting.position)) continue;
      float& best = fits_[posting.position];
      const float fits = fit(match, posting);
      if (fits <= best) continue;
      if (best == 0) fitting_.push_back(posting.position);
      best = fits;
    }
  }
  for (const std::uint32_t at : fitting_) {
    add_to(at, rarity * fits_[at]);
    fits_[at] = 0;
  }
  fitting_.clear();
  return rarity * common;
}

void Scoring::add_to(std::uint32_t at, float score) {
  if (score <= 0) return;
  if (scores_[at] == 0) touched_.push_back(at);
  scores_[at] += score;
}

void Scoring::offer(std::uint32_t part, const Source& source, float all) {
  const auto offer_one = [&](std::uint32_t at, float score) {
    const Hit hit{part, source.piece->position(at), score};
    if (best_.full() && !best_.takes(hit)) return;
    const auto left = of_part_.add(hit);
    if (left && !best_.full()) beyond_share_.add(*left);
  };
  for (const std::uint32_t at : touched_)
    offer_one(at, all + scores_[at]);
  if (all <= 0) return;
  // The remaining tools score equally, so the first `limit_` of them suffice.
  std::size_t left = limit_;
  for (std::uint32_t at = 0; at < source.piece->index->size() && left > 0; ++at) {
    if (!source.sees(at) || scores_[at] > 0) continue;
    offer_one(at, all);
    --left;
  }
}

}  // namespace proteus::search
