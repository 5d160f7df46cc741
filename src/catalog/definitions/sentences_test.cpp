#include "catalog/definitions/sentences.hpp"

#include <gtest/gtest.h>

namespace proteus::catalog {
namespace {

TEST(Sentences, AreLeftOutOneByOne) {
  const auto hides = [](std::string_view sentence) { return sentence.contains("drop_all"); };
  EXPECT_EQ(without_sentences("Read it. Call drop_all! Then rest.", hides), "Read it. Then rest.");
  EXPECT_EQ(without_sentences("- read\n- drop_all.\n\n\n- x.y", hides), "- read\n\n- x.y");
  EXPECT_EQ(without_sentences("drop_all", hides), "");
  EXPECT_EQ(without_sentences("", hides), "");
}

// Must take linear time: quadratic time for this many empty lines would take hours.
TEST(Sentences, LeaveEmptyLinesBehindHoweverMany) {
  const auto hides = [](std::string_view sentence) { return sentence.contains("drop_all"); };
  EXPECT_EQ(without_sentences("a\n" + std::string(8'000'000, '\n') + "drop_all\nb", hides), "a\n\nb");
}

}  // namespace
}  // namespace proteus::catalog
