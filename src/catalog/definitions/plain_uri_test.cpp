#include "catalog/definitions/plain_uri.hpp"

#include <gtest/gtest.h>

namespace proteus::catalog {
namespace {

std::string plain(std::string_view uri) { return plain_uri(uri).value_or("(none)"); }

TEST(PlainUri, IsTheSameForAllSpellingsOfOneUri) {
  for (const auto* const spelling :
       {"file:///etc/passwd", "file:///%65tc/passwd", "file:////etc/passwd", "file:///./etc//passwd",
        "file:///pub/../etc/passwd", "FILE:///etc/passwd", "file://localhost/etc/passwd",
        "file://LOCALHOST/etc/./passwd", "file:/etc/passwd", "file:///pub/%2e%2E/etc/passwd", "file:///etc/%70asswd"}) {
    EXPECT_EQ(plain(spelling), "file:///etc/passwd") << spelling;
  }
  EXPECT_EQ(plain("Note://Host/A/b?C=%64"), "note://host/A/b?C=d");
  EXPECT_EQ(plain("note:today"), "note:today");
  EXPECT_EQ(plain("x://h/a/b/.."), "x://h/a/");
  EXPECT_EQ(plain("x://h"), "x://h");
  EXPECT_EQ(plain("x://%48"), "x://h");
  EXPECT_EQ(plain("web://archive/http://a/b"), "web://archive/http:/a/b");
}

TEST(PlainUri, IsNothingWhereItsMeaningDependsOnTheReader) {
  for (const auto* const unclear : {"file:///etc%2Fpasswd", "file:///pub/..%2fetc", "file:///%2565tc/passwd",
                                    "file:///pub/..%5cetc", "file:///a\\b", "file:///a%00b", "file:///../etc/passwd",
                                    "x://h/%zz", "x://h/%", "x://h/a?b=%2F", "x://h%2fi/"}) {
    EXPECT_EQ(plain(unclear), "(none)") << unclear;
  }
}

TEST(PlainUri, HasPatternsOfTheSameForm) {
  EXPECT_EQ(plain_uri_pattern("FILE://localhost/My%20Files/*"), "file:///My Files/*");
  EXPECT_EQ(plain_uri_pattern("*"), "*");
  EXPECT_EQ(plain_uri_pattern("note:to?ay"), "note:to?ay");
  EXPECT_EQ(plain_uri_pattern("*/100%"), "*/100%");
}

}  // namespace
}  // namespace proteus::catalog
