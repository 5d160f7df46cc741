#include "gateway/callers/principal.hpp"

#include <gtest/gtest.h>

namespace proteus::gateway {
namespace {

Principals two(Anonymous anonymous = Anonymous::refused) {
  return Principals({{.name = "ci", .token = Secret("t1"), .contexts = {"", "abc*"}, .upstreams = {"bank*"}},
                     {.name = "all", .token = Secret("t2")}},
                    anonymous);
}

// AUT-01
TEST(Principals, AreFoundByTheirTokens) {
  const Principals principals = two();
  const auto ci = principals.find("Bearer t1").value();
  EXPECT_EQ(ci->name(), "ci");
  EXPECT_EQ(principals.find("bearer  t2").value()->name(), "all");
  EXPECT_TRUE(ci->may_enter(""));
  EXPECT_TRUE(ci->may_enter("abc_historical"));
  EXPECT_FALSE(ci->may_enter("other"));
  EXPECT_TRUE(ci->access().allows(catalog::UpstreamName("banking")));
  EXPECT_FALSE(ci->access().allows(catalog::UpstreamName("other")));
}

// AUT-03
TEST(Principals, RefuseWhoIsNotKnown) {
  for (const std::string_view wrong : {"", "Bearer t3", "Bearer ", "Bearer", "Basic t1", "t1"})
    EXPECT_EQ(two().find(wrong).error().kind(), ErrorKind::unauthenticated) << wrong;
  EXPECT_EQ(two(Anonymous::served).find("").value()->name(), "");
  EXPECT_FALSE(two(Anonymous::served).find("Bearer t3")) << "a wrong token is not anonymous";
}

}  // namespace
}  // namespace proteus::gateway
