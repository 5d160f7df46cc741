#include "base/text/base64.hpp"

#include <string>

#include <gtest/gtest.h>

namespace proteus {
namespace {

// RFC 4648, section 10
TEST(Base64, WritesTheExamplesOfItsStandard) {
  const std::pair<const char*, const char*> examples[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text), bytes);
  }
}

TEST(Base64, ReadsBackEveryByteInBothAlphabets) {
  std::string bytes;
  for (int i = 0; i < 256; ++i)
    bytes.push_back(static_cast<char>(i));
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const std::string part = bytes.substr(bytes.size() - length);
    for (const Base64 alphabet : {Base64::standard, Base64::url}) {
      EXPECT_EQ(base64_decode(base64_encode(part, alphabet), alphabet), part) << length;
    }
  }
}

TEST(Base64, OfUrlsHasItsOwnLettersAndNoPadding) {
  EXPECT_EQ(base64_encode("\xfb\xff\xfe", Base64::standard), "+//+");
  EXPECT_EQ(base64_encode("\xfb\xff\xfe", Base64::url), "-__-");
  EXPECT_EQ(base64_encode("f", Base64::url), "Zg");
  EXPECT_EQ(base64_decode("Zg==", Base64::url), std::nullopt);
  EXPECT_EQ(base64_decode("+//+", Base64::url), std::nullopt);
  EXPECT_EQ(base64_decode("-__-", Base64::standard), std::nullopt);
}

TEST(Base64, HasOneSpellingForEachByteString) {
  for (const auto* const wrong : {"Zg", "Zg=", "Zg===", "Zm8", "Zm9v=", "Zm9v====", "=", "==", "====", "Z",
                                  "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Zm9v!", "Z===", "=Zm9", "Zg==Zg==", "Zm9vYg=a"}) {
    EXPECT_EQ(base64_decode(wrong), std::nullopt) << wrong;
  }
  for (const auto* const wrong : {"Zh", "Zm9", "Z", "Zm9vZ"}) {
    EXPECT_EQ(base64_decode(wrong, Base64::url), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace proteus
