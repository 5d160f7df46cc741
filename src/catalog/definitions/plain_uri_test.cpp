#include "catalog/definitions/plain_uri.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::catalog {
namespace {

using ::testing::ElementsAre;

std::string plain(std::string_view uri) {
  const auto spellings = plain_uris(uri);
  return spellings.empty() ? "(none)" : spellings.front();
}

TEST(PlainUri, IsTheSameForAllSpellingsOfOneUri) {
  for (const auto* const spelling :
       {"file:///etc/passwd", "file:///%65tc/passwd", "file:////etc/passwd", "file:///./etc//passwd",
        "file:///pub/../etc/passwd", "FILE:///etc/passwd", "file://localhost/etc/passwd",
        "file://LOCALHOST/etc/./passwd", "file:/etc/passwd", "file:///pub/%2e%2E/etc/passwd", "file:///etc/%70asswd",
        "file://%6cocalhost/etc/passwd"}) {
    EXPECT_EQ(plain(spelling), "file:///etc/passwd") << spelling;
  }
  EXPECT_EQ(plain("Note://Host/A/b?C=%64"), "note://host/A/b?C=d");
  EXPECT_EQ(plain("note:today"), "note:today");
  EXPECT_EQ(plain("https://h:443/a"), "https://h/a");
  EXPECT_EQ(plain("http://H:80"), "http://h");
  EXPECT_EQ(plain("http://h:443/a b"), "http://h:443/a b");
  EXPECT_EQ(plain("postgres://me:x@h:5432/t?a=./b"), "postgres://me:x@h:5432/t?a=./b");
  EXPECT_EQ(plain("x://h/a/b/.."), "x://h/a/");
  EXPECT_EQ(plain("x://h"), "x://h");
  EXPECT_EQ(plain("x://%48"), "x://h");
  EXPECT_EQ(plain("web://archive/http://a/b"), "web://archive/http:/a/b");
}

TEST(PlainUri, HasASpellingWithAndOneWithoutADefaultPort) {
  for (const auto* const spelling : {"https://h/a", "https://H:443/a", "https://h:/a", "https://h:0443/a"})
    EXPECT_THAT(plain_uris(spelling), ElementsAre("https://h/a", "https://h:443/a")) << spelling;
  EXPECT_THAT(plain_uris("http://me:80@[::80]?b"), ElementsAre("http://me:80@[::80]?b", "http://me:80@[::80]:80?b"));
  EXPECT_THAT(plain_uris("https://h:08443/a"), ElementsAre("https://h:8443/a"));
  EXPECT_THAT(plain_uris("https://h:00/a"), ElementsAre("https://h:0/a"));
  EXPECT_THAT(plain_uris("https://h:{port}/a"), ElementsAre("https://h:{port}/a"));
  EXPECT_THAT(plain_uris("note://h:/a"), ElementsAre("note://h:/a"));
  EXPECT_THAT(plain_uris("https:a"), ElementsAre("https:a"));
}

TEST(PlainUri, IsNothingWhereItsMeaningDependsOnTheReader) {
  for (const auto* const unclear :
       {"file:///etc%2Fpasswd", "file:///pub/..%2fetc", "file:///%2565tc/passwd", "file:///pub/..%5cetc",
        "file:///a\\b", "file:///a%00b", "file:///../etc/passwd", "x://h/%zz", "x://h/%", "x://h/a?b=%2F", "x://h%2fi/",
        // URL parsers drop tabs and line breaks, and spaces at the ends.
        "file:///pub/.\t./etc/passwd", "file:///etc/pas\nswd", "fi\rle:///etc/passwd", " file:///etc/passwd",
        "file:///etc/passwd ", "file:///a\x7f",
        // Readers that know no query resolve it with the path.
        "file:///pub/?/../../etc/passwd", "file:///pub/#/..", "x://h/a?b/%2e%2e/c", "file:etc/passwd"}) {
    EXPECT_EQ(plain(unclear), "(none)") << unclear;
  }
}

TEST(PlainUri, HasPatternsOfTheSameForm) {
  EXPECT_THAT(plain_uri_patterns("FILE://localhost/My%20Files/*"), ElementsAre("file:///My Files/*"));
  EXPECT_THAT(plain_uri_patterns("*"), ElementsAre("*"));
  EXPECT_THAT(plain_uri_patterns("note:to?ay"), ElementsAre("note:to?ay"));
  EXPECT_THAT(plain_uri_patterns("*/100%"), ElementsAre("*/100%"));
  EXPECT_THAT(plain_uri_patterns("*://Host/A*"), ElementsAre("*://host/A*"));
  EXPECT_THAT(plain_uri_patterns("http?://H*:80/%41"), ElementsAre("http?://h*:80/A"));
  EXPECT_THAT(plain_uri_patterns("https://H:443/*"), ElementsAre("https://h/*"));
  EXPECT_THAT(plain_uri_patterns("https://H:0443/*"), ElementsAre("https://h/*"));
  EXPECT_THAT(plain_uri_patterns("https://H*:443/*"), ElementsAre("https://h*:443/*"));
  EXPECT_THAT(plain_uri_patterns("note:to?a?y"), ElementsAre("note:to?a?y"));
  EXPECT_THAT(plain_uri_patterns("x://h/A?b=?"), ElementsAre("x://h/A?b=?"));
  EXPECT_THAT(plain_uri_patterns("x://h%zz?A"), ElementsAre("x://h%zz?A"));
}

TEST(PlainUri, HasAFormOfAPatternForEachPlaceWhereItsQueryMayBegin) {
  EXPECT_THAT(plain_uri_patterns("DB://Host?Table=A*"), ElementsAre("db://host?Table=A*", "db://host?table=a*"));
  EXPECT_THAT(plain_uri_patterns("DB://H?ST?Table"),
              ElementsAre("db://h?ST?Table", "db://h?st?Table", "db://h?st?table"));
  EXPECT_THAT(plain_uri_patterns("https://h:443?x*"), ElementsAre("https://h?x*", "https://h:443?x*"));
  EXPECT_THAT(plain_uri_patterns("mail://inbox{?maxResults}"),
              ElementsAre("mail://inbox{?maxResults}", "mail://inbox{?maxresults}"));
  EXPECT_THAT(plain_uri_patterns("x://h?a%zz/B"), ElementsAre("x://h?a%zz/B"));
}

}  // namespace
}  // namespace proteus::catalog
