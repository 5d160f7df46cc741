// Tests of durations, sizes, variables, and suggestions for misspelt names.
#include <gtest/gtest.h>

#include "base/settings/environment.hpp"
#include "base/settings/nearest.hpp"
#include "base/settings/units.hpp"

namespace proteus {
namespace {

using namespace std::chrono_literals;

TEST(Duration, HasAUnit) {
  EXPECT_EQ(parse_duration("200ms").value(), 200ms);
  EXPECT_EQ(parse_duration("30s").value(), 30s);
  EXPECT_EQ(parse_duration("5m").value(), 5min);
  EXPECT_EQ(parse_duration("1h30m").value(), 90min);
  EXPECT_EQ(parse_duration("2d").value(), 48h);
  EXPECT_EQ(parse_duration("0s").value(), 0s);
}

TEST(Duration, IsRefusedWhereItCouldMeanSomethingElse) {
  for (const auto* text :
       {"", "5", "0", "s", "5 m", " 5m", "5m ", "1.5s", "5min", "30m1h", "5m5m", "5S", "+5s", "1e3s"})
    EXPECT_FALSE(parse_duration(text)) << text;
  EXPECT_EQ(parse_duration("-5s").error().message(), "must not be negative");
  EXPECT_EQ(parse_duration("5").error().message(),
            "\"5\" is not understood: a duration is a whole number with a unit, such as 200ms, 30s, 5m or 1h30m");
}

TEST(Duration, DoesNotOverflow) {
  EXPECT_EQ(parse_duration("3650d").value(), 24h * 3650);
  for (const auto* text : {"3651d", "3650d1ms", "18446744073709551615ms", "9223372036854775807d"})
    EXPECT_EQ(parse_duration(text).error().message(), "must be at most ten years") << text;
  EXPECT_EQ(parse_duration("18446744073709551616ms").error().message(), "the number is too large");
}

TEST(Duration, IsReadBackAsTheSame) {
  for (const auto duration : {0ms, 1ms, 999ms, 1500ms, 60'000ms, 5'400'000ms, 90'061'001ms})
    EXPECT_EQ(parse_duration(write_duration(duration)).value(), duration);
  EXPECT_EQ(write_duration(90min), "1h30m");
  EXPECT_EQ(write_duration(0ms), "0s");
}

TEST(Duration, ThatIsNoneIsRepeatedWithoutCuttingACharacterInHalf) {
  const std::string text = std::string(39, 'x') + "ä";
  EXPECT_TRUE(parse_duration(text).error().message().starts_with("\"" + std::string(39, 'x') + "…\" is not"));
}

TEST(Size, HasAUnit) {
  EXPECT_EQ(parse_size("512B").value(), ByteSize(512));
  EXPECT_EQ(parse_size("16KiB").value(), kibibytes(16));
  EXPECT_EQ(parse_size("4MiB").value(), mebibytes(4));
  for (const auto* text : {"", "4", "MiB", "4MB", "4kib", "1.5MiB", "4MiB2KiB", "1025GiB", "99999999999999999999B"})
    EXPECT_FALSE(parse_size(text)) << text;
  EXPECT_EQ(parse_size("-1B").error().message(), "must not be negative");
}

TEST(Size, IsReadBackAsTheSame) {
  for (const std::uint64_t bytes : {0ULL, 1ULL, 1023ULL, 1024ULL, 1025ULL, 4ULL << 20U, 3ULL << 30U})
    EXPECT_EQ(parse_size(write_size(ByteSize(bytes))).value(), ByteSize(bytes));
  EXPECT_EQ(write_size(kibibytes(16)), "16KiB");
}

TEST(FixedEnvironment, KnowsNothingElse) {
  const Environment variables = fixed_environment({{"A", "1"}, {"EMPTY", ""}});
  EXPECT_EQ(variables("A"), "1");
  EXPECT_EQ(variables("EMPTY"), "");
  EXPECT_EQ(variables("PATH"), std::nullopt);
  EXPECT_NE(process_environment()("PATH"), std::nullopt);
}

TEST(Nearest, FindsWhatWasMeant) {
  const std::string_view names[] = {"refresh_interval", "refresh_strategy", "ttl"};
  EXPECT_EQ(nearest("refresh_intervall", names), "refresh_interval");
  EXPECT_EQ(nearest("refreshStrategy", names), "refresh_strategy");
  EXPECT_EQ(nearest("tlt", names), "ttl");
  EXPECT_EQ(nearest("colour", names), "");
}

}  // namespace
}  // namespace proteus
