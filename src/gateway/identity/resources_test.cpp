#include "gateway/identity/resources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

using testing::ElementsAre;
using testing::Optional;

Resources at(std::string_view url) { return Resources(*net::Url::parse(url)); }

// OAU-05
TEST(Resources, AnEndpointTakesTokensForItselfAndForTheWholeGateway) {
  const Resources resources = at("https://mcp.example.com");
  EXPECT_THAT(resources.accepted_at("work"),
              ElementsAre("https://mcp.example.com", "https://mcp.example.com/", "https://mcp.example.com/mcp/work"));
  EXPECT_EQ(resources.admin(), "https://mcp.example.com/admin");
}

// OAU-04
TEST(Resources, MetadataIsWhereRfc9728PutsIt) {
  const Resources resources = at("https://example.com/tools/");
  EXPECT_EQ(resources.metadata_url(resources.endpoint("work")),
            "https://example.com/.well-known/oauth-protected-resource/tools/mcp/work");
  EXPECT_THAT(resources.resource_at("/.well-known/oauth-protected-resource/tools/mcp/work"),
              Optional(std::string("https://example.com/tools/mcp/work")));
}

TEST(Resources, MetadataIsFoundBehindAProxyThatTakesThePathAway) {
  const Resources resources = at("https://example.com/tools");
  EXPECT_THAT(resources.resource_at("/.well-known/oauth-protected-resource/mcp"),
              Optional(std::string("https://example.com/tools/mcp")));
  EXPECT_THAT(resources.resource_at("/.well-known/oauth-protected-resource"),
              Optional(std::string("https://example.com/tools")));
}

TEST(Resources, MetadataIsFoundBehindSuchAProxyThoughTheEndpointBeginsLikeItsPath) {
  const Resources resources = at("https://example.com/m");
  EXPECT_THAT(resources.resource_at("/.well-known/oauth-protected-resource/mcp"),
              Optional(std::string("https://example.com/m/mcp")));
  EXPECT_THAT(resources.resource_at("/.well-known/oauth-protected-resource/m/mcp"),
              Optional(std::string("https://example.com/m/mcp")));
}

TEST(Resources, OtherPathsAreOfNoResource) {
  const Resources resources = at("https://example.com");
  EXPECT_EQ(resources.resource_at("/.well-known/oauth-protected-resource/mcp/a/b"), std::nullopt);
  EXPECT_EQ(resources.resource_at("/.well-known/oauth-protected-resource/mcpx"), std::nullopt);
  EXPECT_EQ(resources.resource_at("/.well-known/oauth-protected-resource/metrics"), std::nullopt);
  EXPECT_EQ(resources.resource_at("/mcp"), std::nullopt);
}

}  // namespace
}  // namespace proteus::gateway
