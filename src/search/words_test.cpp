#include "search/words.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/spelling.hpp"
#include "search/stem.hpp"

namespace proteus::search {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> all;
  Words words(text);
  while (words.next())
    all.emplace_back(words.word());
  return all;
}

TEST(Words, SplitsIdentifiers) {
  EXPECT_THAT(words_of("getUserByID"), ElementsAre("get", "user", "by", "id", "getuserbyid"));
  EXPECT_THAT(words_of("list-tables"), ElementsAre("list", "tables"));
  EXPECT_THAT(words_of("fs.read_file"), ElementsAre("fs", "read", "file"));
  EXPECT_THAT(words_of("HTTPServer"), ElementsAre("http", "server", "httpserver"));
  EXPECT_THAT(words_of("userIDs"), ElementsAre("user", "ids", "userids"));
  EXPECT_THAT(words_of("base64 s3 k8s E2E"), ElementsAre("base64", "s3", "k8s", "e2e"));
  EXPECT_THAT(words_of("v2Api"), ElementsAre("v2", "api", "v2api"));
}

TEST(Words, FindsNamesThatArePutTogetherByEitherSpelling) {
  EXPECT_THAT(words_of("GitHub"), ElementsAre("git", "hub", "github"));
  EXPECT_THAT(words_of("github"), ElementsAre("github"));
}

TEST(Words, FoldsCaseAndAccentsInManyScripts) {
  EXPECT_THAT(words_of("Élève ÜBER Łódź"), ElementsAre("eleve", "uber", "lodz"));
  EXPECT_THAT(words_of("ФАЙЛ Ёлка"), ElementsAre("файл", "елка"));
  EXPECT_THAT(words_of("ΑΡΧΕΊΟ"), ElementsAre("αρχειο"));
  EXPECT_THAT(words_of("ＦＩＬＥ１"), ElementsAre("file1"));
  EXPECT_THAT(words_of("e\u0301le\u0300ve"), ElementsAre("eleve"));
}

TEST(Words, TakesPairsOfScriptsWithoutSpaces) {
  EXPECT_THAT(words_of("读文件"), ElementsAre("读", "读文", "文", "文件", "件"));
  EXPECT_THAT(words_of("读 文"), ElementsAre("读", "文"));
  EXPECT_THAT(words_of("read文"), ElementsAre("read", "文"));
}

TEST(Words, TakesSymbolsOneByOne) {
  EXPECT_THAT(words_of("🗑️📁"), ElementsAre("🗑", "📁"));
  EXPECT_THAT(words_of("👍🏽"), ElementsAre("👍"));
}

TEST(Words, AreNoneInPunctuationControlsAndBrokenBytes) {
  EXPECT_THAT(words_of(""), IsEmpty());
  EXPECT_THAT(words_of("?! -- \x01\x02 \xff\xfe \xe2\x82"), IsEmpty());
  EXPECT_THAT(words_of("a\xff"
                       "b"),
              ElementsAre("a", "b"));
}

TEST(Words, AreCutWhereTheyAreTooLong) {
  const auto words = words_of(std::string(1'000'000, 'x'));
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words.front().size(), Words::kLongest);
}

TEST(Stem, IsOfTheLanguageThatTheScriptSuggests) {
  EXPECT_EQ(stem("files"), stem("file"));
  EXPECT_EQ(stem("querying"), stem("query"));
  EXPECT_EQ(stem("файлы"), stem("файл"));
  EXPECT_EQ(stem("文件"), "文件");
  EXPECT_EQ(stem(""), "");
}

TEST(Spelling, CountsSlips) {
  EXPECT_EQ(slips_between("issue", "issue", 2), 0U);
  EXPECT_EQ(slips_between("isue", "issue", 2), 1U);
  EXPECT_EQ(slips_between("isseu", "issue", 2), 1U);
  EXPECT_EQ(slips_between("repositroy", "repository", 2), 1U);
  EXPECT_GT(slips_between("table", "issue", 2), 2U);
  EXPECT_GT(slips_between("a", "abcdef", 2), 2U);
}

TEST(Spelling, SeesByTrigramsWhatCannotBeMeant) {
  EXPECT_TRUE(share_trigrams(trigrams_of("repositroy"), trigrams_of("repository"), 2));
  EXPECT_FALSE(share_trigrams(trigrams_of("repository"), trigrams_of("calculator"), 1));
}

}  // namespace
}  // namespace proteus::search
