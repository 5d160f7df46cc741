#include <gtest/gtest.h>
#include <proteus/error.hpp>

namespace proteus {
namespace {

TEST(Error, SaysWhereItHappened) {
  const Error error = errors::timeout("tools/list").within("upstream banking");
  EXPECT_EQ(error.message(), "upstream banking: tools/list timed out");
  EXPECT_EQ(error.kind(), ErrorKind::timeout);
}

}  // namespace
}  // namespace proteus
