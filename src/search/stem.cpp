#include "search/stem.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include <libstemmer.h>

#include "base/text/visible_text.hpp"

namespace proteus::search {
namespace {

struct Language {
  char32_t first;
  char32_t last;
  const char* name;
};

// By the first character of the word.
constexpr std::array kLanguages = {
    Language{'a', 'z', "english"},      Language{0x370, 0x3FF, "greek"},  Language{0x400, 0x52F, "russian"},
    Language{0x531, 0x58F, "armenian"}, Language{0x600, 0x6FF, "arabic"}, Language{0x900, 0x97F, "hindi"},
    Language{0xB80, 0xBFF, "tamil"},
};

struct Delete {
  void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};
using Stemmer = std::unique_ptr<sb_stemmer, Delete>;

std::optional<std::size_t> language_of(std::string_view word) {
  const char32_t first = first_character(word).character;
  for (std::size_t i = 0; i < kLanguages.size(); ++i) {
    if (first >= kLanguages[i].first && first <= kLanguages[i].last) return i;
  }
  return std::nullopt;
}

}  // namespace

std::string_view stem(std::string_view word) {
  if (word.empty()) return word;
  const auto language = language_of(word);
  if (!language) return word;
  // A stemmer has a buffer, so each thread needs its own.
  thread_local std::array<Stemmer, kLanguages.size()> stemmers;
  Stemmer& stemmer = stemmers[*language];
  if (!stemmer) stemmer.reset(sb_stemmer_new(kLanguages[*language].name, "UTF_8"));
  if (!stemmer) return word;  // this build of the library lacks the language
  const auto* const stem =
      sb_stemmer_stem(stemmer.get(), reinterpret_cast<const sb_symbol*>(word.data()), static_cast<int>(word.size()));
  if (stem == nullptr) return word;
  const auto length = static_cast<std::size_t>(sb_stemmer_length(stemmer.get()));
  return length == 0 ? word : std::string_view(reinterpret_cast<const char*>(stem), length);
}

Term term_of(std::string_view stem) {
  // FNV-1a, with the bits mixed so that all are equally good: `ListIndex::find` derives the place of a term from its
  // value.
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : stem)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  hash = (hash ^ (hash >> 33U)) * 0xFF51AFD7ED558CCDU;
  return static_cast<Term>(hash >> 32U);
}

}  // namespace proteus::search
