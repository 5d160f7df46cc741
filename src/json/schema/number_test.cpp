#include "json/schema/number.hpp"

#include <limits>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "json/schema/equality.hpp"

namespace proteus::json::schema {
namespace {

Number number(std::string_view text) { return *as_number(boost::json::parse(text)); }

bool same(std::string_view a, std::string_view b) {
  std::size_t work = 0;
  const auto left = boost::json::parse(a);
  const auto right = boost::json::parse(b);
  const bool result = equal(left, right, work);
  EXPECT_EQ(result, equal(right, left, work));
  if (result) EXPECT_EQ(hash(left, work), hash(right, work)) << a << " and " << b;
  return result;
}

TEST(Number, IsTheSameHoweverItIsWritten) {
  EXPECT_EQ(number("1"), number("1.0"));
  EXPECT_EQ(number("100"), number("1e2"));
  EXPECT_EQ(number("0"), number("-0.0"));
  EXPECT_EQ(number("9223372036854775808"), number("9223372036854775808.0"));
  EXPECT_NE(number("9007199254740993"), number("9007199254740992.0"));
}

TEST(Number, IsAnIntegerIfItHasNoFraction) {
  EXPECT_TRUE(is_integer(number("1.0")));
  EXPECT_TRUE(is_integer(number("1e300")));
  EXPECT_FALSE(is_integer(number("1.5")));
  EXPECT_FALSE(is_integer(number("1e-300")));
  EXPECT_FALSE(is_integer(std::numeric_limits<double>::infinity()));
}

TEST(Number, ComparesExactlyBeyondThePrecisionOfDoubles) {
  EXPECT_TRUE(compare(number("9007199254740993"), number("9007199254740992.0")) > 0);
  EXPECT_TRUE(compare(number("9223372036854775807"), number("9.3e18")) < 0);
  EXPECT_TRUE(compare(number("18446744073709551615"), number("1e20")) < 0);
  EXPECT_TRUE(compare(number("18446744073709551615"), number("-1")) > 0);
  EXPECT_TRUE(compare(number("-9223372036854775808"), number("-1e19")) > 0);
  EXPECT_TRUE(compare(number("2.5"), number("2")) > 0);
  EXPECT_TRUE(compare(number("-2.5"), number("-2")) < 0);
  EXPECT_TRUE(compare(number("1"), std::numeric_limits<double>::quiet_NaN()) == std::partial_ordering::unordered);
}

TEST(Number, IsAMultipleInDecimal) {
  EXPECT_TRUE(is_multiple(number("0.0075"), number("0.0001")));
  EXPECT_FALSE(is_multiple(number("0.00751"), number("0.0001")));
  EXPECT_TRUE(is_multiple(number("19.99"), number("0.01")));
  EXPECT_TRUE(is_multiple(number("1e308"), number("0.5")));
  EXPECT_FALSE(is_multiple(number("1e308"), number("0.123456789")));
  EXPECT_FALSE(is_multiple(number("1e-300"), number("1")));
  EXPECT_TRUE(is_multiple(number("-9223372036854775808"), number("2")));
  EXPECT_TRUE(is_multiple(number("0"), number("7")));
  EXPECT_FALSE(is_multiple(std::numeric_limits<double>::infinity(), number("1")));
}

TEST(Equality, IsByValueAlsoDeepInside) {
  EXPECT_TRUE(same(R"({"a": [1, {"b": 2.0}], "c": null})", R"({"c": null, "a": [1.0, {"b": 2}]})"));
  EXPECT_FALSE(same("[1, 2]", "[2, 1]"));
  EXPECT_FALSE(same(R"({"a": 1})", R"({"a": 1, "b": 1})"));
  EXPECT_FALSE(same("1", "true"));
  EXPECT_FALSE(same("0", "false"));
  EXPECT_FALSE(same("\"\"", "null"));
}

}  // namespace
}  // namespace proteus::json::schema
