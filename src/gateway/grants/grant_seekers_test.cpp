#include "gateway/grants/grant_seekers.hpp"

#include <gtest/gtest.h>

namespace proteus::gateway::test {
namespace {

server::Caller seeking(std::string name, std::string key) {
  const auto permissions = std::make_shared<const Permissions>(permissions_of({.name = name, .token = Secret("t")}));
  auto principal = std::make_shared<const Principal>(
      Principal::Parts{.name = name, .permissions = permissions, .key = std::move(key)});
  return {.principal = principal->key(), .grant = std::move(principal)};
}

// UPC-15
TEST(GrantSeekers, AreThoseOfOneCallerAtOneUpstream) {
  GrantSeekers seekers;
  const auto ada = seeking("ada", "https://id.example\nada");
  const auto bob = seeking("bob", "https://id.example\nbob");
  const auto first = seekers.of(ada, 1, "files", "");
  EXPECT_EQ(seekers.of(ada, 1, "files", ""), first);
  EXPECT_EQ(first->key,
            GrantKey(GrantOwner(std::string("https://id.example\nada")), GrantTarget(std::string("files"))));
  const auto other = seekers.of(bob, 1, "files", "");
  EXPECT_FALSE(other->key == first->key);
  EXPECT_EQ(seekers.of(ada, 2, "mail", "")->key.target().value(), "mail");
  EXPECT_EQ(seekers.of(seeking("", ""), 1, "files", ""), nullptr);
}

TEST(GrantSeekers, BringTheTokenThatTheCallerCameWithLast) {
  GrantSeekers seekers;
  const auto ada = seeking("ada", "https://id.example\nada");
  const auto first = seekers.of(ada, 1, "files", "one");
  EXPECT_EQ(seekers.of(ada, 1, "files", "two")->caller_token.reveal(), "two");
  EXPECT_EQ(first->caller_token.reveal(), "one");
  EXPECT_EQ(seekers.size(), 1U);
}

TEST(GrantSeekers, LetGoOfWhoDoesNotComeBack) {
  GrantSeekers seekers;
  std::weak_ptr<const server::Grant> gone;
  {
    const auto ada = seeking("ada", "https://id.example\nada");
    gone = ada.grant;
    (void)seekers.of(ada, 1, "files", "");
  }
  EXPECT_FALSE(gone.expired());
  seekers.drop_unused();
  EXPECT_EQ(seekers.size(), 1U);
  seekers.drop_unused();
  EXPECT_TRUE(gone.expired());
}

}  // namespace
}  // namespace proteus::gateway::test
