#include "catalog/definitions/names.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::catalog {
namespace {

using ::testing::ElementsAre;

NameRules portable() { return {"up.", NameStyle::portable}; }

TEST(ShownNames, PrefixToolsAndPromptsButNotUris) {
  const std::vector<std::string_view> own = {"a", "b"};
  EXPECT_THAT(shown_names(Kind::tool, own, {"x_", NameStyle::as_is}), ElementsAre("x_a", "x_b"));
  EXPECT_THAT(shown_names(Kind::prompt, own, {"x_", NameStyle::as_is}), ElementsAre("x_a", "x_b"));
  EXPECT_THAT(shown_names(Kind::resource, own, {"x_", NameStyle::as_is}), ElementsAre("a", "b"));
  EXPECT_THAT(shown_names(Kind::resource_template, own, portable()), ElementsAre("a", "b"));
}

// PRX-18
TEST(ShownNames, ArePortableWhereAskedFor) {
  const std::vector<std::string_view> own = {"plain", "with space", "größe", "a/b.c"};
  EXPECT_THAT(shown_names(Kind::tool, own, portable()),
              ElementsAre("up_plain", "up_with_space", "up_gr__e", "up_a_b_c"));
}

// PRX-18
TEST(ShownNames, ShortenLongPortableNamesWithAHash) {
  const std::string one = std::string(70, 'a') + "1";
  const std::string two = std::string(70, 'a') + "2";
  const std::vector<std::string_view> own = {one, two};
  const auto shown = shown_names(Kind::tool, own, portable());
  EXPECT_EQ(shown[0].size(), kLongestPortableName);
  EXPECT_EQ(shown[1].size(), kLongestPortableName);
  EXPECT_NE(shown[0], shown[1]);
  EXPECT_TRUE(shown[0].starts_with("up_aaaa"));
}

// PRX-18
TEST(ShownNames, TellCollidingPortableNamesApartWhateverTheirOrder) {
  std::vector<std::string_view> own = {"a.b", "a/b", "c.d", "e f", "e_f"};
  const NameRules rules{"", NameStyle::portable};
  const auto shown = shown_names(Kind::tool, own, rules);
  EXPECT_TRUE(shown[0].starts_with("a_b_"));
  EXPECT_TRUE(shown[1].starts_with("a_b_"));
  EXPECT_NE(shown[0], shown[1]);
  EXPECT_EQ(shown[2], "c_d");
  EXPECT_TRUE(shown[3].starts_with("e_f_"));
  EXPECT_EQ(shown[4], "e_f");

  std::vector<std::string> reversed = shown;
  std::ranges::reverse(reversed);
  std::ranges::reverse(own);
  EXPECT_EQ(shown_names(Kind::tool, own, rules), reversed);
}

// A provider may choose a name that equals another's with its hash.
TEST(ShownNames, StayDistinctWhereAHashIsTakenAlready) {
  const NameRules rules{"", NameStyle::portable};
  const auto first = shown_names(Kind::tool, std::vector<std::string_view>{"a.b", "a/b"}, rules);
  const std::vector<std::string_view> own = {"a.b", "a/b", first[0], first[1]};
  auto shown = shown_names(Kind::tool, own, rules);
  EXPECT_EQ(shown[2], first[0]);
  EXPECT_EQ(shown[3], first[1]);
  std::ranges::sort(shown);
  EXPECT_EQ(std::ranges::adjacent_find(shown), shown.end());
}

// PRX-15
TEST(Names, FollowTheSpecification) {
  EXPECT_TRUE(check_shown_name(Kind::tool, "admin.tools-list_2"));
  EXPECT_TRUE(check_shown_name(Kind::tool, std::string(128, 'a')));
  EXPECT_FALSE(check_shown_name(Kind::tool, std::string(129, 'a')));
  EXPECT_FALSE(check_shown_name(Kind::tool, ""));
  EXPECT_FALSE(check_shown_name(Kind::tool, "a b"));
  EXPECT_FALSE(check_shown_name(Kind::tool, "größe"));
  EXPECT_TRUE(check_shown_name(Kind::prompt, "größe 1"));
  EXPECT_FALSE(check_own_name(Kind::prompt, "a\nb"));
  EXPECT_FALSE(check_own_name(Kind::prompt, "a\x7f"));
  EXPECT_FALSE(check_own_name(Kind::prompt, "a\xc2\x85"));
  EXPECT_FALSE(check_own_name(Kind::resource, "x://" + std::string(kLongestUri, 'a')));
}

// PRX-19: the rules of a provider determine which names it may be shown by.
TEST(Names, SayWhoMayShowThem) {
  EXPECT_TRUE(may_show(Kind::tool, "git_log", {.prefix = "git_"}));
  EXPECT_TRUE(may_show(Kind::tool, "git_log", {.prefix = ""}));
  EXPECT_FALSE(may_show(Kind::tool, "git_log", {.prefix = "git_hub_"}));
  EXPECT_TRUE(may_show(Kind::resource, "test://x", {.prefix = "git_"}));
  const NameRules portable{.prefix = "my.git_", .style = NameStyle::portable};
  EXPECT_TRUE(may_show(Kind::tool, "my_git_log", portable));
  EXPECT_TRUE(may_show(Kind::tool, "my.git_log", portable));
  EXPECT_FALSE(may_show(Kind::tool, "my-git_log", portable));
  const NameRules longest{.prefix = std::string(65, '.'), .style = NameStyle::portable};
  const std::vector<std::string_view> own{"a"};
  EXPECT_TRUE(may_show(Kind::tool, shown_names(Kind::tool, own, longest).front(), longest));
}

}  // namespace
}  // namespace proteus::catalog
