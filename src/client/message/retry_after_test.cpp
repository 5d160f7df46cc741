#include "client/message/retry_after.hpp"

#include <gtest/gtest.h>

namespace proteus::client {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kNow = "Sun, 06 Nov 1994 08:49:37 GMT";

std::chrono::seconds read(std::string_view value, std::string_view date = kNow) {
  net::Fields fields;
  if (!value.empty()) fields.add("retry-after", value);
  if (!date.empty()) fields.add("Date", date);
  return read_retry_after(fields);
}

// REF-29
TEST(RetryAfter, IsReadInEitherForm) {
  EXPECT_EQ(read("7"), 7s);
  EXPECT_EQ(read("Sun, 06 Nov 1994 08:50:07 GMT"), 30s);
}

// REF-29
TEST(RetryAfter, IsBounded) {
  EXPECT_EQ(read("86400"), kLongestRetryAfter);
  EXPECT_EQ(read("99999999999999999999999999"), kLongestRetryAfter);
  EXPECT_EQ(read("Mon, 06 Nov 2094 08:49:37 GMT"), kLongestRetryAfter);
}

TEST(RetryAfter, IsNothingWhereItCannotBeRead) {
  EXPECT_EQ(read(""), 0s);
  EXPECT_EQ(read("-5"), 0s);
  EXPECT_EQ(read("-99999999999999999999999999"), 0s);
  EXPECT_EQ(read("soon"), 0s);
  EXPECT_EQ(read("7 seconds"), 0s);
  EXPECT_EQ(read("Sun, 06 Nov 1994 08:49:07 GMT"), 0s) << "it has passed";
  EXPECT_EQ(read("Sun, 06 Nov 1994 08:50:07 GMT", ""), 0s) << "by whose clock?";
}

}  // namespace
}  // namespace proteus::client
