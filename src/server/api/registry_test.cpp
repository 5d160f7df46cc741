#include "server/api/registry.hpp"

#include <string>

#include <gtest/gtest.h>

namespace proteus::server {
namespace {

TEST(MakeTool, SaysWhatIsWrongWithADefinition) {
  EXPECT_FALSE(make_tool({.name = ""}));
  EXPECT_FALSE(make_tool({.name = "two words"}));
  EXPECT_FALSE(make_tool({.name = std::string(129, 'a')}));
  EXPECT_FALSE(make_tool({.name = "a", .input_schema = {{"type", "string"}}}));
  EXPECT_FALSE(make_tool({.name = "a", .input_schema = {{"type", "object"}, {"$ref", "https://example.com/x"}}}));
  EXPECT_TRUE(make_tool({.name = "a.b/c-d_e"}));
}

TEST(MakeTool, HidesFromLegacyClientsWhatTheyCannotUnderstand) {
  const auto entry = make_tool({.name = "a", .output_schema = boost::json::object{{"type", "array"}}}).value();
  EXPECT_NE(entry.listed.modern.find("outputSchema"), std::string::npos);
  EXPECT_EQ(entry.listed.legacy.find("outputSchema"), std::string::npos);
}

}  // namespace
}  // namespace proteus::server
