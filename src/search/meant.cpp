#include "search/meant.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
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
  Candidates(std::string_view word, std::size_t& left)
      : word_(word), trigrams_(trigrams_of(word)), slips_(slips_in(word)), left_(left) {}

  // `tools_of` returns how many visible tools have a word.
  template <class ToolsOf>
  void look_at(const ListIndex& index, const ToolsOf& tools_of) {
    const std::size_t most = std::min(left_, kMostComparedAtOne);
    std::size_t work = 0;
    const auto compare = [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end && work < most; ++at) {
        ++work;
        if (!share_trigrams(trigrams_, index.trigrams(at), slips_)) continue;
        const ListIndex::Spelled spelled = index.spelled(at);
        work += kComparison;
        const std::size_t slips = slips_between(word_, spelled.word, slips_);
        if (slips > slips_) continue;
        work += spelled.postings.size();
        const std::size_t tools = tools_of(spelled);
        if (tools == 0) continue;
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
    left_ -= std::min(work, left_);
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
  std::size_t& left_;
  std::map<std::string, Candidate, std::less<>> found_;
};

}  // namespace

std::vector<Query::Alternative> meant_by(std::string_view word, const Sources& sources, float weight,
                                         std::size_t& left) {
  Candidates candidates(word, left);
  for (std::size_t i = 0; i < sources.parts(); ++i) {
    const Sources::Part part = sources.part(i);
    if (part.seen == 0) continue;
    candidates.look_at(*part.about, [&](const ListIndex::Spelled&) { return std::size_t{part.seen}; });
    for (const Source& source : part.sources) {
      candidates.look_at(*source.piece->index,
                         [&](const ListIndex::Spelled& spelled) { return source.count(spelled.postings); });
    }
  }
  return candidates.best(weight);
}

}  // namespace proteus::search
