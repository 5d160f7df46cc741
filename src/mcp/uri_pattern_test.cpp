#include "mcp/uri_pattern.hpp"

#include <random>

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

std::size_t steps_of(std::string_view uri_template, std::string_view uri) {
  std::size_t left = UriPattern::kSteps;
  UriPattern::parse(uri_template).value().matches(uri, left);
  return UriPattern::kSteps - left;
}

// A greedy matcher would take exponential time here, and a matcher that keeps all places 60 times as many steps.
TEST(UriPattern, TakesAStepPerCharacterHoweverManyVariablesMayHoldSlashes) {
  std::string hard;
  for (int i = 0; i < 60; ++i)
    hard += "a{+x}";
  EXPECT_FALSE(matches(hard + "b", std::string(8000, 'a')));
  std::string harder = "t://";
  for (int i = 0; i < 25; ++i)
    harder += "{+x}a";
  for (const std::size_t length : {1000U, 2000U, 4000U, 8000U})
    EXPECT_LE(steps_of(harder + "Q{+z}", "t://" + std::string(length, 'a')), 2 * length + 100) << length;
}

TEST(UriPattern, StopsWhereNoStepsAreLeft) {
  const auto pattern = UriPattern::parse("t://{+a}x{+b}y").value();
  const std::string uri = "t://" + std::string(500, '-') + "x-y";
  std::size_t steps = 100;
  EXPECT_FALSE(pattern.matches(uri, steps));
  EXPECT_EQ(steps, 0U);
  EXPECT_FALSE(pattern.matches("t://xy", steps));
  EXPECT_TRUE(pattern.matches(uri));
}

// A reference matcher that tries everything.
bool fits(std::string_view shape, std::string_view uri) {
  if (shape.empty()) return uri.empty();
  if (shape.front() != '*' && shape.front() != '?')
    return !uri.empty() && uri.front() == shape.front() && fits(shape.substr(1), uri.substr(1));
  for (std::size_t length = 0; length <= uri.size(); ++length) {
    if (length > 0 && shape.front() == '?' && uri[length - 1] == '/') return false;
    if (fits(shape.substr(1), uri.substr(length))) return true;
  }
  return false;
}

TEST(UriPattern, AgreesWithOneThatTriesEverything) {
  std::minstd_rand random(7);
  const auto pick = [&](std::string_view from) { return from[random() % from.size()]; };
  int fitting = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string shape;
    std::string text = "a";
    std::string uri = "a";
    for (std::size_t n = random() % 7; n > 0; --n) {
      shape += pick("ab/*?*?");
      text += shape.back() == '*' ? "{+x}" : shape.back() == '?' ? "{x}" : std::string(1, shape.back());
    }
    for (std::size_t n = random() % 8; n > 0; --n)
      uri += pick("aab/");
    const bool fit = fits("a" + shape, uri);
    fitting += fit ? 1 : 0;
    ASSERT_EQ(matches(text, uri), fit) << text << " " << uri;
  }
  EXPECT_GT(fitting, 1000);
}

}  // namespace
}  // namespace proteus::mcp
