// Definitions and queries that were written to be found more often than they should be, or to make searching slow.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/meant.hpp"
#include "search/sources.hpp"
#include "search/testing/searching.hpp"
#include "search/tool_text.hpp"

namespace proteus::search::testing {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string repeated(std::string_view word, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i)
    text.append(word).push_back(' ');
  return text;
}

float best_score(const std::string& description, std::string_view query) {
  const std::vector all = {upstream("one", {tool("x", description), tool("y", "Unrelated.")})};
  return rank(indexed(all), Query::read(query).value(), 1).at(0).score;
}

TEST(HostileTools, GainNothingByRepeatingAWord) {
  const float thrice = best_score(repeated("invoice", 3), "invoice");
  EXPECT_LE(best_score(repeated("invoice", 100), "invoice"), thrice);
  EXPECT_LE(best_score(repeated("invoice", 100'000), "invoice"), thrice);
  // A tool keeps its place against one that only repeats its name.
  const std::vector all = {upstream("a", {tool("spam", repeated("send invoice", 1000))}),
                           upstream("b", {tool("send_invoice", "Sends an invoice to a customer.")})};
  EXPECT_EQ(search(all, "send an invoice").front(), "send_invoice");
}

TEST(HostileTools, AreReadOnlyInTheirBeginning) {
  const std::string word(1'000'000, 'a');
  const std::vector all = {upstream("one", {tool("long", word), tool("far", repeated("b", 5000) + "needle")})};
  EXPECT_THAT(search(all, "needle"), IsEmpty());
  EXPECT_LT(SnapshotIndex::build(*all.front())->pieces().front().index->memory_bytes(), 10'000U);
}

TEST(HostileTools, MayEndTheirBeginningWithinAnEscape) {
  for (std::size_t padding = 0; padding < 16; ++padding) {
    const std::string text = std::string(kDescriptionBytes - padding, ' ') + "\xF0\x9F\x97\x91\n\t\"\\ more";
    const std::vector all = {upstream("one", {tool("x", "needle " + text)})};
    EXPECT_THAT(search(all, "needle"), SizeIs(1)) << padding;
  }
}

TEST(HostileTools, OfTheSameNameLeaveRoomForOthers) {
  std::vector<std::string> same;
  for (int i = 0; i < 100'000; ++i)
    same.push_back(tool(fmt::format("search.{}", i)));
  const std::vector all = {upstream("many", same), upstream("one", {tool("search_flights", "Search flights.")})};
  const auto parts = indexed(all);
  const auto found = [&](std::string_view query) { return names(all, rank(parts, Query::read(query).value(), 10)); };
  EXPECT_THAT(found("search"), Contains("search_flights"));
  EXPECT_EQ(found("search flights").front(), "search_flights");
}

// SRC-09: an upstream that lists very many words, all of them like a word of the query.
TEST(HostileTools, WithVeryManyWordsCostAMisspelledWordLittle) {
  std::vector<std::string> many;
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b = 'a'; b <= 'z'; ++b) {
      std::string words;
      for (char c = 'a'; c <= 'z'; ++c)
        words += fmt::format("invoi{}{}{} ", a, b, c);
      many.push_back(tool(fmt::format("t{}{}", a, b), words));
    }
  }
  const std::vector all = {upstream("many", many), upstream("one", {tool("bill", "Writes a voucher.")})};
  const auto parts = indexed(all);
  const Sources sources(parts);
  WorkLeft left;
  (void)meant_by("invoi0xy", sources, 1, left);
  EXPECT_GE(left.comparing, kMostCompared - 3 * kMostComparedAtOne);
  EXPECT_LE(left.comparing, kMostCompared - kMostComparedAtOne);
  EXPECT_GE(left.looking, kMostLookedAt - 3 * kMostComparedAtOne);
  EXPECT_THAT(names(all, rank(parts, Query::read("vuocher").value(), 1)), ::testing::ElementsAre("bill"));
}

// SRC-09: an upstream whose own words would use up the work before the word that was meant.
TEST(HostileTools, WithFrequentUnrelatedWordsLeaveWorkForWhatWasMeant) {
  std::string words;
  for (char a = 'a'; a <= 'j'; ++a) {
    for (char b = 'a'; b <= 'j'; ++b)
      words += fmt::format("v{}{}cher ", a, b);
  }
  std::vector<std::string> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i)
    many[i] = tool(fmt::format("t{}", i), words);
  many.push_back(tool("bill", "Writes a voucher."));
  EXPECT_THAT(search({upstream("many", many)}, "vuocher"), ::testing::ElementsAre("bill"));
}

// SRC-09
TEST(HostileTools, WithManyShorterWordsLeaveWorkForWordsOfTheLengthThatWasMeant) {
  constexpr std::string_view kOthers = "abdfgijklmnopqstuvwxyz";  // no letter that would make a slip of "vuocher"
  std::vector<std::string> many;
  for (const char a : kOthers) {
    for (const char b : kOthers) {
      std::string words;
      for (const char c : kOthers)
        words += fmt::format("vuo{}{}{} ", a, b, c);
      many.push_back(tool(fmt::format("t{}{}", a, b), words));
    }
  }
  many.push_back(tool("bill", "Writes a voucher."));
  EXPECT_THAT(search({upstream("many", many)}, "vuocher"), ::testing::ElementsAre("bill"));
}

// SRC-02: tools that the caller does not see would use up the work before the word that was meant.
TEST(HostileTools, ThatAreHiddenLeaveAllWorkForWhatIsVisible) {
  std::string first;
  std::string second;
  for (char a = 'a'; a <= 'x'; ++a) {
    for (char b = 'a'; b <= 'z'; ++b)
      (a < 'm' ? first : second) += fmt::format("v{}{}cher ", a, b);
  }
  const auto found = [](const std::string& a, const std::string& b) {
    const std::vector all = {upstream("one", {tool("a", a), tool("b", b), tool("bill", "Writes a vyzcher.")})};
    const std::vector<std::uint32_t> hidden = {0, 1};
    const std::vector<Visible> parts = {{SnapshotIndex::build(*all.front()), hidden}};
    return names(all, rank(parts, Query::read("vzycher").value(), 10));
  };
  EXPECT_THAT(found("Unrelated.", "Unrelated."), ::testing::ElementsAre("bill"));
  EXPECT_THAT(found(first, second), ::testing::ElementsAre("bill"));
}

// SRC-09
TEST(HostileQueries, AreAnsweredClearly) {
  const auto message = [](std::string_view query) { return Query::read(query).error().message(); };
  EXPECT_EQ(message(""), "the query has no words");
  EXPECT_EQ(message(" \t\n ?!…"), "the query has no words");
  EXPECT_EQ(message(std::string_view("\0\x01\x1b", 3)), "the query has no words");
  EXPECT_EQ(
      message(std::string(1'000'000, 'a')),
      "a query of 1000000 bytes is too long; describe in a sentence what the tool should do (8192 bytes at most)");
  const std::vector<std::string_view> many(17, "x");
  EXPECT_EQ(Query::read(many).error().message(), "17 queries are too many; at most 16 are searched at once");
  EXPECT_EQ(Query::read(std::span<const std::string_view>{}).error().message(), "the query is empty");
}

// SRC-09
TEST(HostileQueries, HaveABoundedNumberOfWords) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += fmt::format("w{} ", i);
  EXPECT_THAT(Query::read(text).value().steps().at(0), SizeIs(Query::kMaxConcepts));
  EXPECT_THAT(Query::read(repeated("same", 1000)).value().steps().at(0), SizeIs(1));
}

// SRC-09
TEST(HostileQueries, OfStopWordsAloneAreLookedForByThem) {
  const std::vector all = {upstream("one", {tool("who_is_it", "Tells."), tool("other", "Who is it? The it.")})};
  EXPECT_EQ(search(all, "who is it").front(), "who_is_it");
  EXPECT_THAT(search(all, "which are those"), IsEmpty());
}

// SRC-09
TEST(HostileQueries, AreWordsWhateverTheyPretendToBe) {
  const std::vector all = {upstream("one", {tool("read_file", "Reads a file."), tool("drop", "Drops.")})};
  EXPECT_EQ(search(all, R"({"query":"read file","limit":1e9,"__proto__":{}})").front(), "read_file");
  EXPECT_EQ(search(all, "'; DROP TABLE files; -- read").front(), "read_file");
  EXPECT_EQ(search(all, std::string_view("read\0file\x1b[31m", 14)).front(), "read_file");
  EXPECT_THAT(search(all, "\xff\xfe read"), SizeIs(1));
}

}  // namespace
}  // namespace proteus::search::testing
