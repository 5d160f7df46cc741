#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "search/list_index.hpp"
#include "search/secret_hash.hpp"
#include "search/tuning.hpp"
#include "search/words.hpp"

namespace proteus::search {

// Builds a ListIndex from the words of tools.
class ListIndexBuilder {
 public:
  explicit ListIndexBuilder(const Tuning& tuning) : tuning_(tuning) {}

  // Adds a field of the current tool.
  void add(Field field, std::string_view text);
  void end_tool();
  ListIndex::Pointer take();

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Found {  // a word in a field
    std::uint32_t term;
    Field field;
    friend auto operator<=>(const Found&, const Found&) = default;
  };
  struct Entry {
    std::uint32_t term;
    ListIndex::Posting posting;
  };

  // Returns the number of a word's term. Terms are numbered in the order of their first use.
  std::uint32_t number_of(std::string_view word, WordShape shape);
  std::uint32_t frequency(std::size_t begin, std::size_t end) const;
  void write_postings(ListIndex& index, const std::vector<std::uint32_t>& ranks) const;
  // Must be called after `write_postings`.
  void write_spelling(ListIndex& index, const std::vector<std::uint32_t>& ranks) const;

  const Tuning tuning_;
  // Term numbers by word: words repeat, and stemming a word costs more than finding it here.
  std::unordered_map<std::string, std::uint32_t, SecretHash, std::equal_to<>> numbers_;
  std::unordered_map<Term, std::uint32_t, SecretHash> terms_;
  std::vector<Term> term_by_number_;
  std::vector<std::string> spelling_;  // by term number; empty for terms without a spelling
  std::vector<Found> found_;
  std::array<float, kFields> lengths_{};
  std::vector<Entry> entries_;
  std::uint32_t tools_ = 0;
};

}  // namespace proteus::search
