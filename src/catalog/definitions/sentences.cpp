#include "catalog/definitions/sentences.hpp"

#include <algorithm>

namespace proteus::catalog {
namespace {

constexpr std::string_view kSpace = " \n\t\r";

// Returns the position after the sentence and the space or line break that ends it.
std::size_t sentence_end(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '\n') return at + 1;
    const bool stops = text[at] == '.' || text[at] == '!' || text[at] == '?';
    if (stops && at + 1 < text.size() && text[at + 1] == ' ') return at + 2;
  }
  return text.size();
}

// Removes white space at both ends and all but one of successive blank lines.
std::string tidied(std::string_view text) {
  const auto begin = std::min(text.find_first_not_of(kSpace), text.size());
  text = text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c != '\n' || !out.ends_with("\n\n")) out += c;
  }
  return out;
}

}  // namespace

std::string without_sentences(std::string_view text, const std::function<bool(std::string_view sentence)>& leaves_out) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = sentence_end(text, begin);
    const std::string_view sentence = text.substr(begin, end - begin);
    begin = end;
    if (!leaves_out(sentence)) {
      out += sentence;
    } else if (sentence.ends_with('\n')) {
      out += '\n';
    }
  }
  return tidied(out);
}

}  // namespace proteus::catalog
