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

// Which of a list's tools have which term, and how often: BM25F's frequency over all fields, each bounded, weighted and
// set against the field's length. Lengths are compared with fixed ones, so that what a tool counts does not depend on
// any other. Immutable, and safe to use from any thread.
class ListIndex {
 public:
  using Pointer = std::shared_ptr<const ListIndex>;

  static constexpr float kImpactUnit = 64;
  static constexpr std::uint32_t kMaxImpact = 1023;
  // Tools behind them cannot be found. No upstream may list that many.
  static constexpr std::uint32_t kMaxTools = (1U << 22U) - 1;

  // A tool that has the term.
  struct Posting {
    Posting() = default;
    Posting(std::uint32_t at, std::uint32_t frequency) : position(at & kMaxTools), impact(frequency & kMaxImpact) {}

    std::uint32_t position : 22 = 0;
    std::uint32_t impact : 10 = 0;  // the frequency, in units of 1 / kImpactUnit; at least 1
  };

  // Of all tools of a list, or of those at some positions, in order; a posting's position counts those.
  static Pointer build(const catalog::DefinitionList& list, const Tuning& tuning);
  static Pointer build(const catalog::DefinitionList& list, std::span<const std::uint32_t> positions,
                       const Tuning& tuning);
  // Of one thing that is described by these: an upstream.
  static Pointer build(std::string_view upstream, std::string_view about, const Tuning& tuning);

  std::size_t size() const { return size_; }
  // In order of the position; empty where nothing has it.
  std::span<const Posting> find(Term term) const;
  // False only where nothing has it; for small indexes that answers most questions.
  bool may_have(Term term) const { return (some_[term >> 30U] & bit(term)) != 0; }

  // A word that others may misspell.
  struct Spelled {
    std::string_view word;  // its stem
    std::uint64_t trigrams;
    Term term;
    std::span<const Posting> postings;
  };
  // The words that begin as this one, as a range to be asked for one by one.
  std::pair<std::size_t, std::size_t> spelled_like(std::string_view word) const;
  Spelled spelled(std::size_t at) const;
  std::uint64_t trigrams(std::size_t at) const { return trigrams_[at]; }

  std::size_t memory_bytes() const;

 private:
  friend class ListIndexBuilder;
  struct Word {
    std::uint32_t begin;  // in words_
    std::uint32_t term;   // in terms_
  };
  static constexpr std::size_t kLetters = 27;  // the Latin ones, and one for all others
  static std::size_t letter(std::string_view word);
  static std::uint64_t bit(Term term) { return std::uint64_t{1} << ((term >> 24U) & 63U); }

  std::size_t size_ = 0;
  std::array<std::uint64_t, 4> some_{};  // a bit for each term, by its first bits
  std::vector<Term> terms_;              // in order
  std::vector<std::uint32_t> begins_;    // of a term's postings; one more than terms
  std::vector<Posting> postings_;
  std::array<std::uint32_t, kLetters + 1> letters_{};  // where the words of each letter begin in spelled_
  std::vector<Word> spelled_;                          // one more than words
  std::vector<std::uint64_t> trigrams_;                // beside them
  std::string words_;
};

}  // namespace proteus::search
