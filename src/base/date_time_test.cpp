#include "base/date_time.hpp"

#include <gtest/gtest.h>

namespace proteus {
namespace {

std::string read_and_written(std::string_view text) {
  const auto read = parse_date_time(text);
  return read ? write_date_time(*read) : "refused";
}

TEST(DateTime, IsReadWithItsOffset) {
  EXPECT_EQ(read_and_written("2027-01-01T00:00:00Z"), "2027-01-01T00:00:00Z");
  EXPECT_EQ(read_and_written("2027-01-01t01:30:00.999999999999+01:30"), "2027-01-01T00:00:00Z");
  EXPECT_EQ(read_and_written("2028-02-28 23:00:00-02:00"), "2028-02-29T01:00:00Z");
  EXPECT_EQ(read_and_written("2026-12-31T23:59:60z"), "2027-01-01T00:00:00Z");
  EXPECT_EQ(*parse_date_time("1970-01-01T00:00:00.25Z"), Clock::Wall(std::chrono::milliseconds(250)));
}

TEST(DateTime, IsRefusedWhereItIsNone) {
  for (const std::string_view wrong :
       {"", "2027-01-01", "2027-01-01T00:00:00", "2027-02-29T00:00:00Z", "2027-13-01T00:00:00Z", "2027-01-01T24:00:00Z",
        "2027-01-01T00:60:00Z", "2027-01-01T00:00:00.Z", "2027-01-01T00:00:00+24:00", "2027-01-01T00:00:00+1:00",
        "2027-01-01T00:00:00Zx", "27-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "30d"})
    EXPECT_EQ(read_and_written(wrong), "refused") << wrong;
  EXPECT_FALSE(parse_date_time("2027-01-01T00:00:00." + std::string(1000, '0') + "Z"));
}

}  // namespace
}  // namespace proteus
