#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace proteus::search {

// The texts that the words of a tool come from.
enum class Field : std::uint8_t { name, title, description, parameters, upstream, about };

inline constexpr std::size_t kFields = 6;

// How words in one field count.
struct FieldTuning {
  float weight = 1;
  float most = 1;       // more occurrences of a word than this count as this many
  float typical = 1;    // typical number of words in the field
  float by_length = 0;  // 0: a long field counts like a short one; 1: inversely proportional to the length
};

// The parameters of the ranking. bench/search_quality chose the defaults on one half of its servers; docs/search.md
// shows what each part of the ranking is worth on the other half.
struct Tuning {
  std::array<FieldTuning, kFields> fields = {{
      {.weight = 2.0F, .most = 2, .typical = 3, .by_length = 0.4F},    // name
      {.weight = 2.0F, .most = 1, .typical = 3, .by_length = 0.3F},    // title
      {.weight = 1.0F, .most = 2, .typical = 20, .by_length = 0.75F},  // description
      {.weight = 0.05F, .most = 2, .typical = 8, .by_length = 0.5F},   // parameters
      {.weight = 2.0F, .most = 1, .typical = 1, .by_length = 0.0F},    // name of the upstream
      {.weight = 0.5F, .most = 1, .typical = 30, .by_length = 0.3F},   // what the upstream says about itself
  }};
  float saturation = 1.2F;  // BM25's k1
  float synonym = 0.6F;     // weight of a synonym relative to the word itself; 0: no synonyms
  float misspelled = 0.6F;  // weight of a corrected word; 0: no corrections
  float negligible = 0.1F;  // words less rare than this part of the rarest word of the query are ignored
  float fusion = 2;         // when several rankings are fused, rank r counts 1 / (fusion + r)
  bool stems = true;
  bool stop_words = true;
};

}  // namespace proteus::search
