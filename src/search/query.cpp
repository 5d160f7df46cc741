#include "search/query.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "search/spelling.hpp"
#include "search/stem.hpp"
#include "search/vocabulary.hpp"
#include "search/words.hpp"

namespace proteus::search {
namespace {

// An abbreviation counts nearly as much as the word itself.
constexpr float kAbbreviation = 0.9F;

void add(std::vector<Query::Alternative>& alternatives, Term term, float weight) {
  const auto same = std::ranges::find(alternatives, term, &Query::Alternative::term);
  if (same == alternatives.end()) {
    alternatives.push_back({term, weight});
  } else {
    same->weight = std::max(same->weight, weight);
  }
}

Query::Concept concept_of(std::string_view word, WordShape shape, const Tuning& tuning) {
  Query::Concept read;
  if (shape != WordShape::letters && shape != WordShape::whole) {
    read.alternatives.push_back({term_of(word), 1});
    return read;
  }
  const std::string root(stem(word));
  read.alternatives.push_back({tuning.stems ? term_of(root) : term_of(word), 1});
  if (shape == WordShape::letters && may_be_misspelled(word, root)) read.word = tuning.stems ? root : std::string(word);
  if (tuning.synonym <= 0) return read;
  for (const auto& group : synonyms_of(root)) {
    for (const Term term : tuning.stems ? group->stems : group->words)
      add(read.alternatives, term, group->abbreviations ? kAbbreviation : tuning.synonym);
  }
  return read;
}

bool has(const Query::Step& step, const Query::Concept& read) {
  const auto first = [](const Query::Concept& one) { return one.alternatives.front().term; };
  return std::ranges::find(step, first(read), first) != step.end();
}

enum class StopWords : std::uint8_t { left_out, kept };

Query::Step step_of(std::string_view text, const Tuning& tuning, StopWords stop_words) {
  Query::Step step;
  Words words(text);
  bool single = false;  // the last concept is a single character, which a pair makes redundant
  bool paired = false;
  while (step.size() < Query::kMaxConcepts && words.next()) {
    const WordShape shape = words.shape();
    if (shape == WordShape::letters && stop_words == StopWords::left_out && is_stop_word(words.word())) continue;
    if (shape == WordShape::pair && single) step.pop_back();
    single = shape == WordShape::single && !paired;
    const bool superfluous = shape == WordShape::single && paired;
    paired = shape == WordShape::pair;
    if (superfluous) {
      continue;
    }
    auto read = concept_of(words.word(), shape, tuning);
    if (has(step, read)) {
      single = false;
    } else {
      step.push_back(std::move(read));
    }
  }
  return step;
}

}  // namespace

Result<Query> Query::read(std::span<const std::string_view> texts, const Tuning& tuning) {
  if (texts.empty()) return std::unexpected(errors::invalid("the query is empty"));
  if (texts.size() > kMaxSteps) {
    return std::unexpected(errors::invalid(
        fmt::format("{} queries are too many; at most {} are searched at once", texts.size(), kMaxSteps)));
  }
  Query query;
  for (const std::string_view text : texts) {
    if (text.size() > kMaxBytes) {
      return std::unexpected(errors::invalid(fmt::format(
          "a query of {} bytes is too long; describe in a sentence what the tool should do ({} bytes at most)",
          text.size(), kMaxBytes)));
    }
    Step step = step_of(text, tuning, tuning.stop_words ? StopWords::left_out : StopWords::kept);
    if (step.empty()) step = step_of(text, tuning, StopWords::kept);
    if (step.empty()) continue;
    query.steps_.push_back(std::move(step));
  }
  if (query.steps_.empty()) return std::unexpected(errors::invalid("the query has no words"));
  return query;
}

}  // namespace proteus::search
