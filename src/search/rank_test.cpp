#include "search/rank.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/testing/searching.hpp"

namespace proteus::search::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string first(const std::vector<catalog::SnapshotPointer>& upstreams, std::string_view query) {
  const auto found = search(upstreams, query);
  return found.empty() ? "" : found.front();
}

// SRC-07
TEST(Rank, WeighsTheNameAboveTheDescriptionAndThatAboveParameters) {
  const std::vector all = {
      upstream("one", {tool("alpha", "Something else.", {"invoice"}), tool("beta", "Sends an invoice to a customer."),
                       tool("invoice", "Sends."), tool("gamma", "Something else.", {"customer"})})};
  EXPECT_THAT(search(all, "invoice"), ElementsAre("invoice", "beta", "alpha"));
}

// SRC-07
TEST(Rank, CountsTheTitleTheUpstreamAndWhatItSaysOfItself) {
  const std::vector all = {upstream("weather", {tool("get_report", "A report.")}, "Forecasts for sailors."),
                           upstream("sales", {tool("get_report", "A report."), tool("x", "", {}, "Quarterly totals")})};
  EXPECT_EQ(rank(indexed(all), Query::read("weather report").value(), 1).at(0).part, 0U);
  EXPECT_EQ(rank(indexed(all), Query::read("report for a sailor").value(), 1).at(0).part, 0U);
  EXPECT_EQ(rank(indexed(all), Query::read("sales report").value(), 1).at(0).part, 1U);
  EXPECT_EQ(first(all, "quarterly total"), "x");
}

// SRC-07
TEST(Rank, SplitsIdentifiersAndStems) {
  const std::vector all = {upstream("one", {tool("getUserByID"), tool("list-tables"), tool("fs.read_file")})};
  EXPECT_EQ(first(all, "users by id"), "getUserByID");
  EXPECT_EQ(first(all, "listing a table"), "list-tables");
  EXPECT_EQ(first(all, "reading files"), "fs.read_file");
  EXPECT_EQ(first(all, "get_user_by_id"), "getUserByID");
}

// SRC-07
TEST(Rank, FindsInAnyScript) {
  const std::vector all = {
      upstream("one", {tool("a", "读取文件的内容"), tool("b", "删除文件夹"), tool("c", "قراءة الملفات من القرص"),
                       tool("d", "Удаляет файлы"), tool("e", "🗑 empties the bin"), tool("f", "ファイルを検索します"),
                       tool("g", "Διαγράφει αρχεία")})};
  EXPECT_EQ(first(all, "读取文件"), "a");
  EXPECT_EQ(first(all, "删除文件"), "b");
  EXPECT_EQ(first(all, "删"), "b");
  EXPECT_EQ(first(all, "الملف"), "c");
  EXPECT_EQ(first(all, "удалить файл"), "d");
  EXPECT_EQ(first(all, "🗑️"), "e");
  EXPECT_EQ(first(all, "検索"), "f");
  EXPECT_EQ(first(all, "αρχείο"), "g");
}

// SRC-07
TEST(Rank, KeepsTheOrderOfListsWhereToolsFitEquallyWell) {
  std::vector<std::string> tools;
  for (int i = 0; i < 9; ++i)
    tools.push_back(tool(fmt::format("copy{}", i), "The same."));
  const std::vector all = {upstream("one", tools)};
  const auto found = search(all, "same", 4);
  EXPECT_THAT(found, ElementsAre("copy0", "copy1", "copy2", "copy3"));
  EXPECT_EQ(search(all, "same", 4), found);
}

TEST(Rank, KnowsSynonymsAndAbbreviationsAndPrefersTheWordItself) {
  const std::vector all = {upstream(
      "one", {tool("fetch_invoice"), tool("delete_invoice"), tool("query_database"), tool("clone_repository")})};
  EXPECT_EQ(first(all, "retrieve the invoice"), "fetch_invoice");
  EXPECT_EQ(first(all, "remove invoice"), "delete_invoice");
  EXPECT_EQ(first(all, "ask the db"), "query_database");
  EXPECT_EQ(first(all, "repo"), "clone_repository");
  const std::vector both = {upstream("one", {tool("get_page"), tool("read_page")})};
  EXPECT_EQ(first(both, "read page"), "read_page");
  EXPECT_EQ(first(both, "get page"), "get_page");
}

TEST(Rank, FindsWhatWasMeantByMistypedWords) {
  const std::vector all = {upstream("github", {tool("create_repository"), tool("list_issues"), tool("get_weather")})};
  EXPECT_EQ(first(all, "repositroy"), "create_repository");
  EXPECT_EQ(first(all, "isues"), "list_issues");
  EXPECT_EQ(first(all, "wether"), "get_weather");
  EXPECT_THAT(search(all, "githb"), SizeIs(3));
  EXPECT_THAT(search(all, "zzzzzzzz"), IsEmpty());
}

TEST(Rank, GivesNoUpstreamAllPlaces) {
  std::vector<std::string> many;
  for (int i = 0; i < 50; ++i)
    many.push_back(tool(fmt::format("search_mail_{}", i), "Search mail."));
  const std::vector all = {upstream("many", many), upstream("one", {tool("other", "Something about mail.")})};
  EXPECT_THAT(search(all, "search mail", 4), Contains("other"));
  EXPECT_THAT(search(all, "search mail", 8), SizeIs(8));
  EXPECT_THAT(search({all.front()}, "search mail", 8), SizeIs(8));
}

TEST(Rank, FusesSteps) {
  const std::vector all = {upstream("one", {tool("read_file"), tool("send_mail"), tool("resize_image"), tool("nap")})};
  const std::vector<std::string_view> steps = {"read the file", "make the picture smaller, resize it", "send a mail"};
  const auto hits = rank(indexed(all), Query::read(steps).value(), 3);
  EXPECT_THAT(names(all, hits), ::testing::UnorderedElementsAre("read_file", "send_mail", "resize_image"));
}

TEST(Rank, FindsNothingInNothing) {
  EXPECT_THAT(rank({}, Query::read("x").value(), 10), IsEmpty());
  EXPECT_THAT(search({upstream("one", {})}, "x"), IsEmpty());
  EXPECT_THAT(search({upstream("one", {tool("x")})}, "x", 0), IsEmpty());
}

}  // namespace
}  // namespace proteus::search::testing
