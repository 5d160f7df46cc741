#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "search/tuning.hpp"

namespace proteus::search {

// What was asked for, read into terms: one query, or one for each step of a task. Immutable.
class Query {
 public:
  // Whatever is longer is refused, so that a query costs little before it is known to be one.
  static constexpr std::size_t kMaxBytes = std::size_t{8} * 1024;
  static constexpr std::size_t kMaxSteps = 16;
  // Of one step; words behind them do not count.
  static constexpr std::size_t kMaxConcepts = 48;

  // Fails with a message for the agent where there is nothing to look for (no text, no word in it), or too much.
  // A text of stop words alone is looked for by them.
  static Result<Query> read(std::span<const std::string_view> texts, const Tuning& tuning = {});
  static Result<Query> read(std::string_view text, const Tuning& tuning = {}) { return read({&text, 1}, tuning); }

  // A term that would do, and how much it counts of the word that was written.
  struct Alternative {
    std::uint32_t term;
    float weight;
  };
  // One word of the query, with all that mean the same. What fits best counts, and once.
  struct Concept {
    std::string word;  // as it is in an index, for finding what was probably meant
    std::vector<Alternative> alternatives;
    float weight = 1;
  };
  using Step = std::vector<Concept>;

  const std::vector<Step>& steps() const { return steps_; }
  // As they were written, one for each step.
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<Step> steps_;
  std::vector<std::string> texts_;
};

}  // namespace proteus::search
