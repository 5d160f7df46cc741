#include "server/api/uri_template.hpp"

#include <gtest/gtest.h>

namespace proteus::server {
namespace {

TEST(UriTemplate, MatchesSegmentsAndPaths) {
  const auto simple = UriTemplate::parse("test://template/{id}/data").value();
  EXPECT_EQ(simple.match("test://template/a%20b/data")->at(0).second, "a b");
  EXPECT_FALSE(simple.match("test://template/a/b/data"));
  EXPECT_FALSE(simple.match("test://template//data"));
  EXPECT_FALSE(simple.match("test://template/%zz/data"));
  const auto path = UriTemplate::parse("file:///{+path}").value();
  EXPECT_EQ(path.match("file:///a/b")->at(0).second, "a/b");
  EXPECT_FALSE(UriTemplate::parse("x://{a}{b}"));
  EXPECT_FALSE(UriTemplate::parse("x://{?q}"));
  EXPECT_FALSE(UriTemplate::parse("x://{a"));
  EXPECT_FALSE(UriTemplate::parse("x://a}"));
}

}  // namespace
}  // namespace proteus::server
