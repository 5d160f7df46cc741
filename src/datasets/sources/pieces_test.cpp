#include "datasets/sources/pieces.hpp"

#include <gtest/gtest.h>

namespace proteus::datasets {
namespace {

TEST(Pieces, AreQuotedAsAllOtherJsonIs) {
  for (std::size_t at = 0; at < 17; ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text(17, 'x');
      text[at] = static_cast<char>(byte);
      Pieces pieces(0);
      pieces.quoted(text);
      EXPECT_EQ(std::move(pieces).take(), json::quote(text)) << byte << " at " << at;
    }
  }
}

TEST(Pieces, GrowAsTheyMust) {
  Pieces pieces(3);
  std::string expected;
  for (int i = 0; i < 1'000; ++i) {
    pieces += "one ";
    pieces.number(i);
    pieces += ' ';
    expected += "one " + std::to_string(i) + ' ';
  }
  const std::size_t half = pieces.size();
  EXPECT_EQ(half, expected.size());
  pieces.again(0, half);
  pieces.json(Value(true));
  pieces.pop_back();
  EXPECT_EQ(std::move(pieces).take(), expected + expected + "tru");
  EXPECT_EQ(Pieces(10).take(), "");
}

}  // namespace
}  // namespace proteus::datasets
