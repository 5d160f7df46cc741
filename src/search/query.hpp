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

// A search request as terms: one query, or one for each step of a task. Immutable.
class Query {
 public:
  // Longer texts are rejected before they cost anything.
  static constexpr std::size_t kMaxBytes = std::size_t{8} * 1024;
  static constexpr std::size_t kMaxSteps = 16;
  // Of one step; further words are ignored.
  static constexpr std::size_t kMaxConcepts = 48;

  // Fails with a message for the agent if there is nothing to search for (no text, or no word in it) or too much.
  // Ignores stop words, unless a text has no other words.
  static Result<Query> read(std::span<const std::string_view> texts, const Tuning& tuning = {});
  static Result<Query> read(std::string_view text, const Tuning& tuning = {}) { return read({&text, 1}, tuning); }

  // A term that matches a concept, and how much it counts compared with the word itself.
  struct Alternative {
    std::uint32_t term;
    float weight;
  };
  // One word of the query, with all terms that mean the same. Only the best match counts, and counts once.
  struct Concept {
    std::string word;  // as indexed, for finding what was meant; empty if it cannot be corrected
    std::vector<Alternative> alternatives;
    float weight = 1;
  };
  using Step = std::vector<Concept>;

  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

}  // namespace proteus::search
