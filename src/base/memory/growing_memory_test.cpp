#include "base/memory/growing_memory.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace proteus {
namespace {

std::string_view text_of(const GrowingMemory& memory, std::size_t size) { return {memory.data(), size}; }

TEST(GrowingMemory, KeepsWhatIsThereHoweverItGrows) {
  GrowingMemory memory;
  EXPECT_FALSE(memory);
  std::string expected;
  for (std::size_t size = 1000; size < 8 * GrowingMemory::kOwnPages; size *= 2) {
    memory.grow(size, expected.size());
    ASSERT_GE(memory.size(), size);
    ASSERT_EQ(text_of(memory, expected.size()), expected);
    while (expected.size() < memory.size()) {
      memory.data()[expected.size()] = static_cast<char>('a' + (expected.size() / 100 % 26));
      expected.push_back(memory.data()[expected.size()]);
    }
  }
}

TEST(GrowingMemory, NeverShrinks) {
  GrowingMemory memory;
  memory.grow(100, 0);
  memory.grow(10, 0);
  EXPECT_EQ(memory.size(), 100U);
}

TEST(GrowingMemory, StaysWhereItIsWhenItIsMoved) {
  for (const std::size_t size : {std::size_t{100}, 2 * GrowingMemory::kOwnPages}) {
    GrowingMemory memory;
    memory.grow(size, 0);
    memory.data()[size - 1] = 'x';
    const char* const before = memory.data();
    GrowingMemory other;
    other.grow(10, 0);
    other = std::move(memory);
    EXPECT_EQ(other.data(), before);
    EXPECT_EQ(other.data()[size - 1], 'x');
  }
}

}  // namespace
}  // namespace proteus
