#include "net/process/line_buffer.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace proteus::net {
namespace {

void put(LineBuffer& lines, std::string_view text) {
  while (!text.empty()) {
    const auto room = lines.room();
    const auto part = text.substr(0, room.size());
    std::ranges::copy(part, room.begin());
    lines.commit(part.size());
    text.remove_prefix(part.size());
  }
}

TEST(LineBuffer, KeepsReadableBytesAfterEveryLine) {
  LineBuffer lines(1'000'000);
  for (std::size_t size = 0; size < 300'000; size = size * 2 + 1) {
    put(lines, std::string(size, 'x') + "\nshort\n");
    for (const std::size_t expected : {size, std::size_t{5}}) {
      const auto taken = lines.take_line();
      ASSERT_TRUE(taken && *taken);
      EXPECT_EQ((*taken)->size(), expected);
      const volatile char last = (*taken)->data()[(*taken)->size() + LineBuffer::kPadding - 1];  // for the sanitizer
      static_cast<void>(last);
    }
    EXPECT_FALSE(lines.has_partial_line());
  }
}

TEST(LineBuffer, GivesBackWhatALongLineNeeded) {
  LineBuffer lines(1'000'000);
  put(lines, std::string(900'000, 'x') + "\n");
  ASSERT_TRUE(*lines.take_line());
  EXPECT_LT(lines.room().size(), 100'000U);
}

TEST(LineBuffer, GivesALineAwayWithItsMemory) {
  LineBuffer lines(10'000'000);
  const std::string text(5'000'000, 'x');
  put(lines, text + "\nnext\nand ha");
  const auto taken = lines.take_line();
  ASSERT_TRUE(taken && *taken);
  const std::string_view line = **taken;
  const auto kept = lines.take_memory();
  put(lines, "lf\n");
  EXPECT_EQ(**lines.take_line(), "next");
  EXPECT_EQ(**lines.take_line(), "and half");
  EXPECT_EQ(line, text);
}

}  // namespace
}  // namespace proteus::net
