#include "search/meant.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "search/spelling.hpp"

namespace proteus::search {
namespace {

constexpr std::size_t kMost = 3;
// Comparing two words takes this much longer than comparing their trigrams.
constexpr std::size_t kComparison = 100;

struct Candidate {
  Term term;
  std::size_t slips;
  std::size_t tools = 0;
  std::size_t place = 0;  // alphabetical, among the candidates
};

class Candidates {
 public:
  Candidates(std::string_view word, WorkLeft& left)
      : word_(word), trigrams_(trigrams_of(word)), slips_(slips_in(word)), left_(left) {}

  // `tools_of` returns how many visible tools have a word; `hidden` is that of a source.
  template <class ToolsOf>
  void look_at(const ListIndex& index, std::span<const std::uint64_t> hidden, const ToolsOf& tools_of) {
    const WorkLeft most{.comparing = std::min(left_.comparing, kMostComparedAtOne),
                        .looking = std::min(left_.looking, kMostLookedAtOne)};
    std::size_t compared = 0;
    std::size_t looked_at = 0;
    const auto sees = [&](const ListIndex::Posting& one) {
      ++looked_at;
      return !has_bit(hidden, one.position);
    };
    const auto compare = [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end && compared < most.comparing && looked_at < most.looking; ++at) {
        ++looked_at;
        if (!share_trigrams(trigrams_, index.trigrams(at), slips_)) continue;
        const ListIndex::Spelled spelled = index.spelled(at);
        if (!hidden.empty() && std::ranges::none_of(spelled.postings, sees)) continue;
        compared += kComparison;
        const std::size_t slips = slips_between(word_, spelled.word, slips_);
        if (slips > slips_) continue;
        const std::size_t tools = tools_of(spelled);
        compared += tools;
        if (!hidden.empty()) looked_at += spelled.postings.size();
        // By word, so that the order of equal candidates does not depend on an index.
        found_.try_emplace(std::string(spelled.word), Candidate{spelled.term, slips}).first->second.tools += tools;
      }
    };
    // Words of the closest lengths are the likeliest, so the limit cuts the others.
    auto [begin, end] = index.spelled_like(word_, 0);
    compare(begin, end);
    for (std::size_t longer = 1; longer <= slips_; ++longer) {
      const auto [wider_begin, wider_end] = index.spelled_like(word_, longer);
      compare(wider_begin, begin);
      compare(end, wider_end);
      begin = wider_begin;
      end = wider_end;
    }
    left_.comparing -= std::min(compared, left_.comparing);
    left_.looking -= std::min(looked_at, left_.looking);
  }

  std::vector<Query::Alternative> best(float weight) const {
    std::vector<Candidate> all;
    for (const auto& [word, candidate] : found_) {
      all.push_back(candidate);
      all.back().place = all.size();
    }
    std::ranges::sort(all, {}, [](const Candidate& one) { return std::tuple(one.slips, ~one.tools, one.place); });
    std::vector<Query::Alternative> best;
    for (const Candidate& candidate : all) {
      if (best.size() == kMost || candidate.slips > all.front().slips) break;
      best.push_back({candidate.term, weight});
    }
    return best;
  }

 private:
  std::string_view word_;
  std::uint64_t trigrams_;
  std::size_t slips_;
  WorkLeft& left_;
  std::map<std::string, Candidate, std::less<>> found_;
};

}  // namespace

std::vector<Query::Alternative> meant_by(std::string_view word, const Sources& sources, float weight, WorkLeft& left) {
  Candidates candidates(word, left);
  for (std::size_t i = 0; i < sources.parts(); ++i) {
    const Sources::Part part = sources.part(i);
    if (part.seen == 0) continue;
    candidates.look_at(*part.about, {}, [&](const ListIndex::Spelled&) { return std::size_t{part.seen}; });
    for (const Source& source : part.sources) {
      candidates.look_at(*source.piece->index, source.hidden,
                         [&](const ListIndex::Spelled& spelled) { return source.count(spelled.postings); });
    }
  }
  return candidates.best(weight);
}

}  // namespace proteus::search
