#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace proteus::search {

// The parts of a tool that words are taken from.
enum class Field : std::uint8_t { name, title, description, parameters, upstream, about };

inline constexpr std::size_t kFields = 6;

// How words count in one field.
struct FieldTuning {
  float weight = 1;
  float most = 1;       // a word that occurs more often counts as if it occurred so often
  float typical = 1;    // words of such a field
  float by_length = 0;  // 0: a long field counts like a short one; 1: in inverse proportion to its length
};

// What ranking is made of. The defaults were chosen by bench/search_quality on one half of its servers; docs/search.md
// has what each part is worth on the other half.
struct Tuning {
  std::array<FieldTuning, kFields> fields = {{
      {.weight = 2.0F, .most = 2, .typical = 3, .by_length = 0.4F},    // name
      {.weight = 2.0F, .most = 1, .typical = 3, .by_length = 0.3F},    // title
      {.weight = 1.0F, .most = 2, .typical = 20, .by_length = 0.75F},  // description
      {.weight = 0.05F, .most = 2, .typical = 8, .by_length = 0.5F},   // parameters
      {.weight = 2.0F, .most = 1, .typical = 1, .by_length = 0.0F},    // upstream: its name
      {.weight = 0.5F, .most = 1, .typical = 30, .by_length = 0.3F},   // about: what it says of itself
  }};
  float saturation = 1.2F;  // BM25's k1
  float synonym = 0.6F;     // what a synonym counts, of the word itself; 0: no synonyms
  float misspelled = 0.6F;  // what a word counts that is probably meant; 0: words are taken as they are written
  float negligible = 0.1F;  // what is less rare than this part of the rarest word of a query is left out
  float fusion = 2;         // ranks of several queries: one of rank r counts 1 / (fusion + r)
  bool stems = true;
  bool stop_words = true;
};

}  // namespace proteus::search
