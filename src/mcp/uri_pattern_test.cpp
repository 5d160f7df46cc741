#include "mcp/uri_pattern.hpp"

#include <gtest/gtest.h>

namespace proteus::mcp {
namespace {

bool matches(std::string_view uri_template, std::string_view uri) {
  return UriPattern::parse(uri_template).value().matches(uri);
}

TEST(UriPattern, FitsLiteralsAndSegments) {
  EXPECT_TRUE(matches("test://fixed", "test://fixed"));
  EXPECT_FALSE(matches("test://fixed", "test://fixed/more"));
  EXPECT_TRUE(matches("test://a/{id}/data", "test://a/7/data"));
  EXPECT_FALSE(matches("test://a/{id}/data", "test://a/7/8/data"));
  EXPECT_TRUE(matches("test://{a}{b}", "test://xy"));
  EXPECT_TRUE(matches("test://{a}/x/{b}", "test://1/x/2"));
  EXPECT_FALSE(matches("test://{a}/x/{b}", "test://1/y/2"));
}

TEST(UriPattern, FitsExpressionsThatCrossSlashes) {
  EXPECT_TRUE(matches("file:///{+path}", "file:///a/b/c.txt"));
  EXPECT_TRUE(matches("db://rows{?table,limit}", "db://rows?table=a/b&limit=3"));
  EXPECT_TRUE(matches("db://rows{?table,limit}", "db://rows"));
  EXPECT_TRUE(matches("db://x{/path*}/end", "db://x/a/b/end"));
  EXPECT_TRUE(matches("a://{+x}-{y}.txt", "a://1-2/3-4.txt"));
  EXPECT_FALSE(matches("a://{+x}-{y}.txt", "a://1-2/3.txt"));
}

TEST(UriPattern, FindsALaterPlaceWhereTheFirstLeadsNowhere) {
  EXPECT_TRUE(matches("a://{x}ab{y}abc", "a://zabab-abc"));
  EXPECT_TRUE(matches("a://{x}aa{y}", "a://aaa"));
  EXPECT_FALSE(matches("a://ab{x}bc", "a://abc"));
}

TEST(UriPattern, RefusesBracesThatDoNotPairUp) {
  EXPECT_FALSE(UriPattern::parse("x://{a"));
  EXPECT_FALSE(UriPattern::parse("x://a}"));
  EXPECT_FALSE(UriPattern::parse("x://{}"));
  std::string many = "x://";
  for (int i = 0; i < 65; ++i)
    many += "{a}/";
  EXPECT_FALSE(UriPattern::parse(many));
}

// A greedy matcher would take exponential time here.
TEST(UriPattern, TakesLittleTimeForManyExpressions) {
  std::string hard;
  for (int i = 0; i < 60; ++i)
    hard += "a{+x}";
  EXPECT_FALSE(matches(hard + "b", std::string(8000, 'a')));
}

}  // namespace
}  // namespace proteus::mcp
