#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "search/list_index.hpp"
#include "search/tuning.hpp"
#include "search/words.hpp"

namespace proteus::search {

// Gathers the words of tools into an index.
class ListIndexBuilder {
 public:
  explicit ListIndexBuilder(const Tuning& tuning) : tuning_(tuning) {}

  // A field of the tool that is being read.
  void add(Field field, std::string_view text);
  void end_tool();
  ListIndex::Pointer take();

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Text {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the name that containers look for
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Found {  // a word in a field
    std::uint32_t term;
    Field field;
    friend auto operator<=>(const Found&, const Found&) = default;
  };
  struct Entry {
    std::uint32_t term;
    ListIndex::Posting posting;
  };

  // Of a word as it is written, in the order in which they were met.
  std::uint32_t number_of(std::string_view word, WordShape shape);
  std::uint32_t frequency(std::size_t begin, std::size_t end) const;
  void write_postings(ListIndex& index, const std::vector<std::uint32_t>& ranks) const;
  void write_spelling(ListIndex& index, const std::vector<std::uint32_t>& ranks) const;

  const Tuning tuning_;
  // Words repeat, and stemming one costs more than finding it.
  std::unordered_map<std::string, std::uint32_t, Text, std::equal_to<>> numbers_;
  std::unordered_map<Term, std::uint32_t> terms_;
  std::vector<Term> term_by_number_;
  std::vector<std::string> spelling_;  // by number; empty for what has none
  std::vector<Found> found_;
  std::array<float, kFields> lengths_{};
  std::vector<Entry> entries_;
  std::uint32_t tools_ = 0;
};

}  // namespace proteus::search
