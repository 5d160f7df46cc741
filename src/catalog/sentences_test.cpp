#include "catalog/sentences.hpp"

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

}  // namespace
}  // namespace proteus::catalog
