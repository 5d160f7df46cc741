#include "gateway/callers/principal.hpp"

#include <gtest/gtest.h>

#include "gateway/callers/credentials.hpp"

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
  const auto ci = principals.find(json::sha256("t1"));
  ASSERT_NE(ci, nullptr);
  EXPECT_EQ(ci->name(), "ci");
  EXPECT_EQ(principals.find(json::sha256("t2"))->name(), "all");
  EXPECT_EQ(principals.find(json::sha256("t3")), nullptr);
  EXPECT_TRUE(ci->may_enter(""));
  EXPECT_TRUE(ci->may_enter("abc_historical"));
  EXPECT_FALSE(ci->may_enter("other"));
  EXPECT_TRUE(ci->access().allows(catalog::UpstreamName("banking")));
  EXPECT_FALSE(ci->access().allows(catalog::UpstreamName("other")));
}

// AUT-04: a request may be under way while the configuration is read more than once.
TEST(Principals, AreWithdrawnWithThoseThatContinueThem) {
  const PrincipalSettings ada{.name = "ada", .token = Secret("a")};
  PrincipalSettings slower = ada;
  slower.requests_per_minute = 5;
  PrincipalSettings fewer = ada;
  fewer.upstreams = {"bank"};
  const Principals first({ada}, Anonymous::served);
  const Principals second({slower}, Anonymous::served, &first);
  const Principals third({fewer}, Anonymous::refused, &second);
  const auto admitted = first.find(json::sha256("a"));
  const auto stranger = first.anonymous();
  first.withdraw_unless_kept_by(second);
  EXPECT_TRUE(admitted->holds());
  EXPECT_TRUE(stranger->holds());
  second.withdraw_unless_kept_by(third);
  EXPECT_FALSE(admitted->holds());
  EXPECT_FALSE(stranger->holds());
  EXPECT_TRUE(third.find(json::sha256("a"))->holds()) << "it has other rights";
}

// AUT-03
TEST(Principals, AnonymousOnesAreThereWhereTheyAreServed) {
  EXPECT_EQ(two().anonymous(), nullptr);
  EXPECT_EQ(two(Anonymous::served).anonymous()->name(), "");
}

// AUT-03
TEST(Credentials, AreReadFromTheField) {
  using enum Credentials::Scheme;
  EXPECT_EQ(credentials_of("").scheme, none);
  EXPECT_EQ(credentials_of("Bearer t1").token, "t1");
  EXPECT_EQ(credentials_of("bearer  t2").token, "t2");
  EXPECT_EQ(credentials_of("DPoP t3").scheme, dpop);
  EXPECT_EQ(credentials_of("dpop t3").token, "t3");
  for (const std::string_view wrong : {"Bearer ", "Bearer", "Basic t1", "t1", "Bearert1", "DPoP"})
    EXPECT_EQ(credentials_of(wrong).token, "") << wrong;
}

}  // namespace
}  // namespace proteus::gateway
