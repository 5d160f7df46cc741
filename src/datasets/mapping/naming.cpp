#include "datasets/mapping/naming.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text/ascii.hpp"
#include "datasets/mapping/mapping.hpp"
#include "datasets/mapping/value.hpp"

namespace proteus::datasets {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_part(char c) { return is_upper(c) || is_lower(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80; }

bool is_vowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

}  // namespace

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_part(c)) {
      end_word();
      continue;
    }
    const bool begins = is_upper(c) && i > 0 &&
                        (is_lower(name[i - 1]) || is_digit(name[i - 1]) ||
                         (is_upper(name[i - 1]) && i + 1 < name.size() && is_lower(name[i + 1])));
    if (begins) end_word();
    word += lower_case(c);
  }
  end_word();
  return words;
}

std::string singular(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kIrregular = {{{"people", "person"},
                                                                                        {"children", "child"},
                                                                                        {"men", "man"},
                                                                                        {"women", "woman"},
                                                                                        {"staff", "staff"},
                                                                                        {"news", "news"},
                                                                                        {"series", "series"},
                                                                                        {"movies", "movie"}}};
  for (const auto& [plural, one] : kIrregular) {
    if (word == plural) return std::string(one);
  }
  const auto ends = [&](std::string_view ending) { return word.size() > ending.size() + 1 && word.ends_with(ending); };
  if (ends("ies") && !is_vowel(word[word.size() - 4])) return std::string(word.substr(0, word.size() - 3)) + "y";
  if (ends("sses") || ends("xes") || ends("ches") || ends("shes") || ends("uses") || ends("zes"))
    return std::string(word.substr(0, word.size() - 2));
  if (ends("s") && !ends("ss") && !ends("us") && !ends("is")) return std::string(word.substr(0, word.size() - 1));
  return std::string(word);
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    c = is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::string entity_type_of(std::string_view table) {
  auto words = words_of(table);
  constexpr std::array<std::string_view, 4> kMarks = {"tbl", "dim", "fact", "t"};
  if (words.size() > 1 && std::ranges::find(kMarks, words.front()) != kMarks.end()) words.erase(words.begin());
  if (words.empty()) return "thing";
  words.back() = singular(words.back());
  return joined(words, "_");
}

std::vector<std::string> link_words(std::string_view column) {
  auto words = words_of(column);
  constexpr std::array<std::string_view, 6> kEndings = {"id", "key", "fk", "no", "code", "ref"};
  if (words.size() > 1 && std::ranges::find(kEndings, words.back()) != kEndings.end()) words.pop_back();
  return words;
}

bool is_writable(std::string_view name) {
  if (name.empty() || name.size() > limits::kIdentifier) return false;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return std::ranges::none_of(name, is_control) && !take_text(name, name.size()).repaired;
}

bool looks_secret(std::string_view column) {
  constexpr std::array<std::string_view, 14> kSecret = {"password", "passwd",     "passphrase",   "secret", "token",
                                                        "salt",     "credential", "credentials",  "ssn",    "iban",
                                                        "cvv",      "pin",        "passwordhash", "otp"};
  const auto words = words_of(column);
  return std::ranges::any_of(
      words, [&](const std::string& word) { return std::ranges::find(kSecret, word) != kSecret.end(); });
}

}  // namespace proteus::datasets
