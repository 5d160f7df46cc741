#include "search/list_index_builder.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "search/spelling.hpp"
#include "search/stem.hpp"
#include "search/vocabulary.hpp"

namespace proteus::search {
namespace {

// The length of a field counts as at least this part of the typical length.
constexpr float kShortestField = 0.5F;

}  // namespace

std::uint32_t ListIndexBuilder::number_of(std::string_view word, WordShape shape) {
  if (const auto found = numbers_.find(word); found != numbers_.end()) return found->second;
  const bool is_letters = shape == WordShape::letters || shape == WordShape::whole;
  const std::string_view root = tuning_.stems && is_letters ? stem(word) : word;
  const auto [known, is_new] = terms_.try_emplace(term_of(root), static_cast<std::uint32_t>(term_by_number_.size()));
  if (is_new) {
    term_by_number_.push_back(known->first);
    spelling_.emplace_back(is_letters && may_be_meant(root) ? root : std::string_view());
  }
  numbers_.emplace(word, known->second);
  return known->second;
}

void ListIndexBuilder::add(Field field, std::string_view text) {
  // A name is short, and each of its words was chosen deliberately.
  const bool all = !tuning_.stop_words || field == Field::name;
  Words words(text);
  while (words.next()) {
    const WordShape shape = words.shape();
    if (!all && shape == WordShape::letters && is_stop_word(words.word())) continue;
    found_.push_back({number_of(words.word(), shape), field});
    if (shape != WordShape::whole && shape != WordShape::single) ++lengths_[static_cast<std::size_t>(field)];
  }
}

std::uint32_t ListIndexBuilder::frequency(std::size_t begin, std::size_t end) const {
  float sum = 0;
  while (begin < end) {
    const std::size_t at = static_cast<std::size_t>(found_[begin].field);
    std::size_t next = begin;
    while (next < end && found_[next].field == found_[begin].field)
      ++next;
    const FieldTuning& field = tuning_.fields[at];
    const float count = std::min(static_cast<float>(next - begin), field.most);
    // A word of a two-word description says no more than a word of a ten-word description.
    const float length = std::max(lengths_[at] / field.typical, kShortestField);
    sum += field.weight * count / (1 - field.by_length + field.by_length * length);
    begin = next;
  }
  const float units = std::round(sum * ListIndex::kImpactUnit);
  return static_cast<std::uint32_t>(std::clamp(units, 0.0F, static_cast<float>(ListIndex::kMaxImpact)));
}

void ListIndexBuilder::end_tool() {
  std::ranges::sort(found_);
  for (std::size_t begin = 0; begin < found_.size();) {
    std::size_t end = begin;
    while (end < found_.size() && found_[end].term == found_[begin].term)
      ++end;
    if (const std::uint32_t impact = frequency(begin, end); impact > 0) {
      entries_.push_back({found_[begin].term, ListIndex::Posting(tools_, impact)});
    }
    begin = end;
  }
  found_.clear();
  lengths_.fill(0);
  ++tools_;
}

ListIndex::Pointer ListIndexBuilder::take() {
  auto index = std::make_shared<ListIndex>();
  index->size_ = tools_;
  std::vector<std::uint32_t> order(term_by_number_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t number) { return term_by_number_[number]; });
  std::vector<std::uint32_t> ranks(order.size());
  index->terms_.reserve(order.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) {
    ranks[order[rank]] = rank;
    index->terms_.push_back(term_by_number_[order[rank]]);
    index->some_[term_by_number_[order[rank]] >> 30U] |= ListIndex::bit(term_by_number_[order[rank]]);
  }
  write_postings(*index, ranks);
  write_spelling(*index, ranks);
  return index;
}

// Entries are in the order of the tools, so a counting sort by term is enough.
void ListIndexBuilder::write_postings(ListIndex& index, const std::vector<std::uint32_t>& ranks) const {
  index.begins_.assign(ranks.size() + 1, 0);
  for (const Entry& entry : entries_)
    ++index.begins_[ranks[entry.term] + 1];
  std::partial_sum(index.begins_.begin(), index.begins_.end(), index.begins_.begin());
  index.postings_.resize(entries_.size());
  std::vector<std::uint32_t> next(index.begins_);
  for (const Entry& entry : entries_)
    index.postings_[next[ranks[entry.term]]++] = entry.posting;
}

void ListIndexBuilder::write_spelling(ListIndex& index, const std::vector<std::uint32_t>& ranks) const {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 0; number < spelling_.size(); ++number) {
    // Nobody means a word that counts for no tool, such as one of very many parameters.
    const bool counts = index.begins_[ranks[number]] < index.begins_[ranks[number] + 1];
    if (counts && !spelling_[number].empty()) numbers.push_back(number);
  }
  // By word, so that which words a limit cuts does not depend on words that a caller does not see.
  std::ranges::sort(numbers, {}, [&](std::uint32_t number) {
    const std::string_view word = spelling_[number];
    return std::tuple(ListIndex::letter(word), word.size(), word);
  });
  std::size_t bytes = 0;
  for (const std::uint32_t number : numbers)
    bytes += spelling_[number].size();
  index.words_.reserve(bytes);
  index.spelled_.reserve(numbers.size() + 1);
  index.trigrams_.reserve(numbers.size());
  for (const std::uint32_t number : numbers) {
    const std::string& word = spelling_[number];
    ++index.letters_[ListIndex::letter(word) + 1];
    index.spelled_.push_back({static_cast<std::uint32_t>(index.words_.size()), ranks[number]});
    index.trigrams_.push_back(trigrams_of(word));
    index.words_ += word;
  }
  index.spelled_.push_back({static_cast<std::uint32_t>(index.words_.size()), 0});
  std::partial_sum(index.letters_.begin(), index.letters_.end(), index.letters_.begin());
}

}  // namespace proteus::search
