#include "search/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

namespace proteus::search {
namespace {

// Sorted.
constexpr std::array<std::string_view, 92> kStopWords = {
    "a",    "about", "all",  "also",   "am",    "an",    "and",   "any",    "are",  "as",   "at",    "be",
    "been", "but",   "by",   "can",    "could", "d",     "did",   "do",     "does", "e",    "for",   "from",
    "g",    "has",   "have", "her",    "his",   "how",   "i",     "if",     "in",   "into", "is",    "it",
    "its",  "just",  "ll",   "may",    "me",    "might", "must",  "my",     "need", "of",   "on",    "one",
    "or",   "our",   "out",  "please", "re",    "s",     "shall", "should", "so",   "some", "such",  "t",
    "than", "that",  "the",  "their",  "them",  "then",  "there", "these",  "they", "this", "those", "to",
    "up",   "us",    "ve",   "via",    "want",  "was",   "we",    "were",   "what", "when", "where", "which",
    "who",  "whose", "will", "with",   "would", "you",   "your",  "yours",
};
static_assert(std::ranges::is_sorted(kStopWords));

// Words that tools use for the same thing, one group per line.
constexpr std::array kVerbs = {
    "get fetch read retrieve show view load",
    "list enumerate browse",
    "search find query lookup locate discover",
    "create add new make insert register",
    "update edit modify change set patch alter",
    "delete remove drop destroy erase clear",
    "send post publish submit",
    "run execute invoke perform launch start",
    "stop cancel abort kill terminate halt end",
    "write save store put",
    "download export pull",
    "upload import push attach",
    "open navigate visit goto browse",
    "click press tap",
    "type enter fill input",
    "move rename relocate",
    "copy duplicate clone",
    "describe explain detail info metadata inspect",
    "check verify validate test",
    "count number total",
    "analyze analyse examine review inspect",
    "wait sleep pause delay",
    "capture screenshot snapshot photo picture",
    "draw plot chart graph diagram visualize",
    "convert transform translate",
    "merge combine join",
    "comment reply note remark",
    "message chat dm",
    "ticket issue bug",
    "folder directory",
    "error exception crash failure",
    "user member person people account",
    "webpage page site website url link",
    "scrape crawl extract",
    "place location address",
    "route direction",
    "picture image photo",
    "document doc file",
    "table collection",
    "row record entry",
    "command shell terminal",
    "branch fork",
    "log history",
};
constexpr std::array kAbbreviations = {
    "db database",
    "repo repository",
    "dir directory",
    "config configuration configure setting",
    "env environment",
    "auth authentication authenticate authorization",
    "doc documentation document",
    "msg message",
    "img image",
    "pr pullrequest",
    "mr mergerequest",
    "org organization organisation",
    "app application",
    "id identifier",
    "info information",
    "param parameter",
    "args argument",
    "temp temporary",
    "cmd command",
    "k8s kubernetes",
    "js javascript",
    "ts typescript",
    "num number",
    "max maximum",
    "min minimum",
    "spec specification",
    "stat statistic",
    "sub subscription",
    "pwd password",
    "api interface",
    "lib library",
    "pkg package",
    "calc calculate",
    "calendar event",
    "mail email",
    "ns namespace",
    "svc service",
    "deploy deployment",
    "admin administrator",
    "geo geography",
    "geocode geocoding coordinate",
};

// The groups, by the terms of their words.
class Table {
 public:
  Table() {
    for (const std::string_view line : kAbbreviations)
      read(line, true);
    for (const std::string_view line : kVerbs)
      read(line, false);
  }

  std::span<const std::shared_ptr<const Synonyms>> find(Term term) const {
    const auto found = groups_.find(term);
    return found == groups_.end() ? std::span<const std::shared_ptr<const Synonyms>>{} : found->second;
  }

 private:
  void read(std::string_view line, bool abbreviations) {
    auto group = std::make_shared<Synonyms>();
    group->abbreviations = abbreviations;
    while (!line.empty()) {
      const std::size_t end = std::min(line.find(' '), line.size());
      const std::string_view word = line.substr(0, end);
      group->stems.push_back(term_of(stem(word)));
      group->words.push_back(term_of(word));
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    for (const Term term : group->stems)
      groups_[term].push_back(group);
  }

  std::unordered_map<Term, std::vector<std::shared_ptr<const Synonyms>>> groups_;
};

}  // namespace

bool is_stop_word(std::string_view word) { return std::ranges::binary_search(kStopWords, word); }

std::span<const std::shared_ptr<const Synonyms>> synonyms_of(std::string_view stem) {
  static const Table table;
  return table.find(term_of(stem));
}

}  // namespace proteus::search
