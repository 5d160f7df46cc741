#include "base/memory/recycled.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace proteus {
namespace {

struct Large {
  explicit Large(int number) : value(number) {}
  int value;
  char more[1'000] = {};
};

TEST(Recycled, MakesObjectsThatAreTheirOwn) {
  std::vector<std::shared_ptr<Large>> all;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i)
      all.push_back(make_recycled<Large>(i));
    for (int i = 0; i < 200; ++i)
      EXPECT_EQ(all[static_cast<std::size_t>(i)]->value, i);
    all.clear();
  }
}

TEST(Recycled, EndsObjectsOnAnyThread) {
  std::shared_ptr<Large> made;
  std::thread([&] { made = make_recycled<Large>(1); }).join();
  EXPECT_EQ(made->value, 1);
  std::thread([&] { made.reset(); }).join();
  EXPECT_EQ(make_recycled<Large>(2)->value, 2);
}

TEST(Recycled, IsUsableByContainersToo) {
  std::vector<int, Recycled<int>> numbers;
  for (int i = 0; i < 1'000; ++i)
    numbers.push_back(i);
  EXPECT_EQ(numbers.back(), 999);
}

}  // namespace
}  // namespace proteus
