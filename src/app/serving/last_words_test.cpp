#include "app/serving/last_words.hpp"

#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

namespace proteus::app {
namespace {

void die(log::Format format, const std::exception_ptr& thrown) {
  install_last_words(format);
  [&]() noexcept { std::rethrow_exception(thrown); }();
}

// OPS-12
TEST(LastWordsDeathTest, SayWhatWasExhausted) {
  const auto no_memory = std::make_exception_ptr(std::bad_alloc());
  EXPECT_DEATH(die(log::Format::text, no_memory), "Z critical app: out of memory");
  EXPECT_DEATH(die(log::Format::json, no_memory),
               R"(\{"time":"[-0-9T:.]*Z","level":"critical","module":"app","message":"out of memory[^"]*"\})");
}

TEST(LastWordsDeathTest, SayWhatWasThrownAndKeepToOneLine) {
  const auto thrown = std::make_exception_ptr(std::runtime_error("a \"fault\"\nof two lines"));
  EXPECT_DEATH(die(log::Format::json, thrown), R"("message":"[^"]*exception: a  fault  of two lines"\})");
}

TEST(LastWords, RefuseAnAddressSpaceThatIsTooSmall) {
  EXPECT_TRUE(check_address_space(std::nullopt));
  EXPECT_TRUE(check_address_space(std::uint64_t{1} << 30U));
  const auto small = check_address_space(std::uint64_t{200} << 20U);
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().message(),
            "the address space is limited to 200 MiB (ulimit -v); at least 512 MiB are needed");
}

}  // namespace
}  // namespace proteus::app
