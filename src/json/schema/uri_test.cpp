#include "json/schema/uri.hpp"

#include <utility>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "json/schema/json_pointer.hpp"

namespace proteus::json::schema {
namespace {

TEST(Uri, ResolvesReferencesAsRfc3986Section54Lists) {
  const std::pair<std::string_view, std::string_view> examples[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {";x", "http://a/b/c/;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
  };
  for (const auto& [reference, expected] : examples) {
    EXPECT_EQ(resolve_uri("http://a/b/c/d;p?q", reference), expected) << reference;
  }
}

TEST(Uri, ResolvesWhatSchemasUse) {
  EXPECT_EQ(resolve_uri("", "tree.json"), "tree.json");
  EXPECT_EQ(resolve_uri("tree.json", "node.json"), "node.json");
  EXPECT_EQ(resolve_uri("http://a", "b"), "http://a/b");
  EXPECT_EQ(resolve_uri("http://a/b", "urn:uuid:1234"), "urn:uuid:1234");
  EXPECT_EQ(split_fragment("urn:x#/a").fragment, "/a");
  EXPECT_EQ(percent_decoded("a%22b"), "a\"b");
  EXPECT_FALSE(percent_decoded("a%2"));
  EXPECT_FALSE(percent_decoded("a%-1"));
}

TEST(JsonPointer, EscapesAndFinds) {
  std::string pointer;
  append_pointer_token(pointer, "a/b~c");
  EXPECT_EQ(pointer, "/a~1b~0c");
  std::string_view rest = pointer;
  EXPECT_EQ(take_pointer_token(rest), "a/b~c");
  EXPECT_TRUE(rest.empty());

  const auto document = boost::json::parse(R"([10, 11])");
  EXPECT_EQ(*step_into(document, "1"), 11);
  EXPECT_EQ(step_into(document, "01"), nullptr);
  EXPECT_EQ(step_into(document, "2"), nullptr);
  EXPECT_EQ(step_into(document, "-"), nullptr);
  EXPECT_EQ(step_into(document, "99999999999999999999"), nullptr);
}

}  // namespace
}  // namespace proteus::json::schema
