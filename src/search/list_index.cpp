#include "search/list_index.hpp"

#include <algorithm>
#include <limits>
#include <ranges>

#include "search/list_index_builder.hpp"
#include "search/tool_text.hpp"

namespace proteus::search {
namespace {

void add(ListIndexBuilder& builder, const catalog::DefinitionList& list, std::size_t position) {
  const ToolText text = text_of(list, list[position]);
  builder.add(Field::name, text.name);
  builder.add(Field::title, text.title);
  builder.add(Field::description, text.description);
  builder.add(Field::parameters, text.parameters);
  builder.end_tool();
}

}  // namespace

ListIndex::Pointer ListIndex::build(const catalog::DefinitionList& list, const Tuning& tuning) {
  ListIndexBuilder builder(tuning);
  for (std::size_t i = 0; i < std::min<std::size_t>(list.size(), kMaxTools); ++i)
    add(builder, list, i);
  return builder.take();
}

ListIndex::Pointer ListIndex::build(const catalog::DefinitionList& list, std::span<const std::uint32_t> positions,
                                    const Tuning& tuning) {
  ListIndexBuilder builder(tuning);
  for (const std::uint32_t position : positions.first(std::min<std::size_t>(positions.size(), kMaxTools)))
    add(builder, list, position);
  return builder.take();
}

ListIndex::Pointer ListIndex::build(std::string_view upstream, std::string_view about, const Tuning& tuning) {
  ListIndexBuilder builder(tuning);
  builder.add(Field::upstream, upstream);
  builder.add(Field::about, about);
  builder.end_tool();
  return builder.take();
}

// Terms are hashes, so that the value of a term predicts its place. From there the search interval is doubled, because
// an untrusted upstream may choose words whose hashes crowd.
std::span<const ListIndex::Posting> ListIndex::find(Term term) const {
  const std::size_t count = terms_.size();
  if (count == 0) return {};
  const auto guess = static_cast<std::size_t>((std::uint64_t{term} * count) >> 32U);
  std::size_t low = guess;
  std::size_t high = guess;
  std::size_t step = 8;
  while (low > 0 && terms_[low] > term) {
    low -= std::min(low, step);
    step *= 2;
  }
  step = 8;
  while (high < count && terms_[high] < term) {
    high += std::min(count - high, step);
    step *= 2;
  }
  const auto begin = terms_.begin();
  const auto found = std::lower_bound(begin + static_cast<std::ptrdiff_t>(low),
                                      begin + static_cast<std::ptrdiff_t>(std::min(high + 1, count)), term);
  if (found == terms_.end() || *found != term) return {};
  const auto at = static_cast<std::size_t>(found - begin);
  return std::span(postings_).subspan(begins_[at], begins_[at + 1] - begins_[at]);
}

std::size_t ListIndex::letter(std::string_view word) {
  const char first = word.front();
  return first >= 'a' && first <= 'z' ? static_cast<std::size_t>(first - 'a') : kLetters - 1;
}

std::pair<std::size_t, std::size_t> ListIndex::spelled_like(std::string_view word, std::size_t longer) const {
  const auto size = [this](std::size_t at) { return spelled_[at + 1].begin - spelled_[at].begin; };
  const std::size_t at = letter(word);
  const auto all = std::views::iota(std::size_t{letters_[at]}, std::size_t{letters_[at + 1]});
  const auto begin =
      std::ranges::partition_point(all, [&](std::size_t each) { return size(each) + longer < word.size(); });
  const auto end =
      std::ranges::partition_point(all, [&](std::size_t each) { return size(each) <= word.size() + longer; });
  return {*begin, *end};
}

ListIndex::Spelled ListIndex::spelled(std::size_t at) const {
  const Word& word = spelled_[at];
  return {.word = std::string_view(words_).substr(word.begin, spelled_[at + 1].begin - word.begin),
          .trigrams = trigrams_[at],
          .term = terms_[word.term],
          .postings = std::span(postings_).subspan(begins_[word.term], begins_[word.term + 1] - begins_[word.term])};
}

std::size_t ListIndex::memory_bytes() const {
  const auto bytes = [](const auto& vector) { return vector.capacity() * sizeof(vector[0]); };
  return sizeof *this + bytes(terms_) + bytes(begins_) + bytes(postings_) + bytes(spelled_) + bytes(trigrams_) +
         words_.capacity();
}

}  // namespace proteus::search
