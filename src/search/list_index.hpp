#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/definitions/definition_list.hpp"
#include "search/stem.hpp"
#include "search/tuning.hpp"

namespace proteus::search {

// An index of the terms of a list's tools: which tools have a term, and how often. The frequency is that of BM25F over
// all fields, each bounded, weighted and normalised by the length of the field. Lengths are compared with constants, so
// that a tool's frequencies do not depend on other tools. Immutable and thread-safe.
class ListIndex {
 public:
  using Pointer = std::shared_ptr<const ListIndex>;

  static constexpr float kImpactUnit = 64;
  static constexpr std::uint32_t kMaxImpact = 1023;
  // Tools at later positions cannot be found; an upstream cannot list that many.
  static constexpr std::uint32_t kMaxTools = (1U << 22U) - 1;

  // A tool that has a term.
  struct Posting {
    Posting() = default;
    Posting(std::uint32_t at, std::uint32_t frequency) : position(at & kMaxTools), impact(frequency & kMaxImpact) {}

    std::uint32_t position : 22 = 0;
    std::uint32_t impact : 10 = 0;  // the frequency, in units of 1 / kImpactUnit; at least 1
  };

  // Build an index of all tools of a list, or of those at `positions`; the position in a posting is then an index into
  // `positions`.
  static Pointer build(const catalog::DefinitionList& list, const Tuning& tuning);
  static Pointer build(const catalog::DefinitionList& list, std::span<const std::uint32_t> positions,
                       const Tuning& tuning);
  // Builds an index with one position, for an upstream and what describes it.
  static Pointer build(std::string_view upstream, std::string_view about, const Tuning& tuning);

  std::size_t size() const { return size_; }
  // Returns the postings of a term, sorted by position; empty if nothing has the term.
  std::span<const Posting> find(Term term) const;
  // Returns false only if nothing has the term. In small indexes this saves most lookups.
  bool may_have(Term term) const { return (some_[term >> 30U] & bit(term)) != 0; }

  // A word that a query may have misspelled.
  struct Spelled {
    std::string_view word;  // its stem
    std::uint64_t trigrams;
    Term term;
    std::span<const Posting> postings;
  };
  // Returns the range of indexed words that begin with the same letter and are at most `longer` bytes longer or
  // shorter, for `spelled` and `trigrams`.
  std::pair<std::size_t, std::size_t> spelled_like(std::string_view word, std::size_t longer) const;
  Spelled spelled(std::size_t at) const;
  std::uint64_t trigrams(std::size_t at) const { return trigrams_[at]; }

  std::size_t memory_bytes() const;

 private:
  friend class ListIndexBuilder;
  struct Word {
    std::uint32_t begin;  // in words_
    std::uint32_t term;   // in terms_
  };
  static constexpr std::size_t kLetters = 27;  // the Latin letters, and one for all others
  static std::size_t letter(std::string_view word);
  static std::uint64_t bit(Term term) { return std::uint64_t{1} << ((term >> 24U) & 63U); }

  std::size_t size_ = 0;
  std::array<std::uint64_t, 4> some_{};  // a Bloom filter: a bit for each term, by its highest bits
  std::vector<Term> terms_;              // sorted
  std::vector<std::uint32_t> begins_;    // where the postings of each term begin; one more than terms
  std::vector<Posting> postings_;
  std::array<std::uint32_t, kLetters + 1> letters_{};  // where the words of each letter begin in spelled_
  std::vector<Word> spelled_;                          // sorted by first letter and length; one more than words
  std::vector<std::uint64_t> trigrams_;                // of the words in spelled_
  std::string words_;
};

}  // namespace proteus::search
