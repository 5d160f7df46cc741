#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/definitions/definition_list.hpp"
#include "search/tuning.hpp"

namespace proteus::search {

// A word as it is looked up: a hash of its stem.
using Term = std::uint32_t;

// Terms and how much each counts, in order of the terms.
struct TermWeight {
  Term term;
  float weight;
};
using TermWeights = std::vector<TermWeight>;

// Which of a list's tools have which term, and how much it counts there: BM25F's term frequency over the fields, bounded
// per field and set against the field's length, saturated. Lengths are compared with fixed ones, so that what a tool
// counts does not depend on any other tool. Immutable, and safe to use from any thread.
class ListIndex {
 public:
  using Pointer = std::shared_ptr<const ListIndex>;

  // A tool that has the term.
  struct Posting {
    std::uint32_t position : 22;  // in the list
    std::uint32_t impact : 10;    // 0 to kMaxImpact for 0 to 1
  };
  static constexpr std::uint32_t kMaxImpact = 1023;
  // Tools behind them cannot be found. No upstream may list that many.
  static constexpr std::size_t kMaxTools = (std::size_t{1} << 22U) - 1;

  // Of the definitions at these positions of the list; of all where none are given.
  static Pointer build(const catalog::DefinitionList& list, const Tuning& tuning);
  static Pointer build(const catalog::DefinitionList& list, std::span<const std::uint32_t> positions,
                       const Tuning& tuning);

  std::size_t size() const { return size_; }
  // In order of the position.
  std::span<const Posting> find(Term term) const;

  // All terms, for finding what was probably meant by a word that no tool has.
  std::span<const Term> terms() const { return terms_; }
  std::string_view word(std::size_t term) const;
  std::span<const std::uint64_t> trigrams() const { return trigrams_; }
  std::span<const Posting> postings(std::size_t term) const;

  std::size_t memory_bytes() const;

 private:
  std::size_t size_ = 0;
  std::vector<Term> terms_;                // in order
  std::vector<std::uint32_t> postings_at_; // by term, and one more
  std::vector<Posting> postings_;
  std::vector<std::uint32_t> words_at_;    // by term, and one more
  std::string words_;
  std::vector<std::uint64_t> trigrams_;    // by term: a bit for each trigram's hash
};

}  // namespace proteus::search
