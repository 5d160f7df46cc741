#include "gateway/routing/remembered_lists.hpp"

#include <gtest/gtest.h>

#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;
using namespace std::chrono_literals;

ListedNames::Pointer names_of(std::initializer_list<std::string_view> tools, const catalog::NameRules& rules = {}) {
  std::vector<std::string> texts;
  texts.reserve(tools.size());
  for (const auto tool : tools)
    texts.push_back(fmt::format(R"({{"name":"{}","inputSchema":{{"type":"object"}}}})", tool));
  const std::vector<std::string_view> raw(texts.begin(), texts.end());
  const auto list = catalog::DefinitionList::build(Kind::tool, raw, rules, {}).value();
  return std::make_shared<const ListedNames>(std::span(&list, 1));
}

// PRX-19
TEST(ListedNames, KnowOwnNames) {
  const auto names = names_of({"b", "a.c"}, {.prefix = "p.", .style = catalog::NameStyle::portable});
  EXPECT_EQ(names->find("p_b").value().own, "b");
  EXPECT_EQ(names->find("p_a_c").value().own, "a.c");
  EXPECT_FALSE(names->find("p.a.c"));
  EXPECT_EQ(names->find_alias("p.a.c").value().own, "a.c");
  EXPECT_EQ(names->find_alias("p.a.c").value().shown, "p_a_c");
  EXPECT_FALSE(names->find_alias("p.x"));
}

// PRX-19
TEST(ListedNames, KnowTemplates) {
  const std::vector<std::string_view> raw{R"({"uriTemplate":"test://a/{x}","name":"a"})",
                                          R"({"uriTemplate":"test://{x}","name":"b"})"};
  const auto list = catalog::DefinitionList::build(Kind::resource_template, raw, {}, {}).value();
  const ListedNames names(std::span(&list, 1));
  const auto any = [](std::string_view) { return true; };
  EXPECT_TRUE(names.has_template_for("test://a/1", any));
  EXPECT_FALSE(names.has_template_for("test://b/1", any));
  EXPECT_FALSE(names.has_template_for("test://a/1", [](std::string_view text) { return text != "test://a/{x}"; }));
}

// SEC-03: templates that are slow to match share one budget; later templates are then not found.
TEST(ListedNames, LookThroughSlowTemplatesForABoundedTime) {
  std::string slow = "t://";
  for (int i = 0; i < 25; ++i)
    slow += "{+x}a";
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i)
    texts.push_back(fmt::format(R"({{"uriTemplate":"{}Q{{+z{}}}","name":"t{}"}})", slow, i, i));
  texts.emplace_back(R"({"uriTemplate":"t://{+zz}","name":"any"})");
  const auto list = catalog::DefinitionList::build(Kind::resource_template,
                                                   std::vector<std::string_view>(texts.begin(), texts.end()), {}, {})
                        .value();
  const ListedNames names(std::span(&list, 1));
  const auto any = [](std::string_view) { return true; };
  EXPECT_TRUE(names.has_template_for("t://" + std::string(100, 'a'), any));
  EXPECT_FALSE(names.has_template_for("t://" + std::string(8000, 'a'), any));
}

class Remembers : public ::testing::Test {
 protected:
  test::Upstream upstream_;
  test::TestGateway gateway_{{test::upstream_at("a", upstream_.port)}};
  const ServedUpstream served_ = *gateway_.gateway.upstreams()->find("a");
  ManualClock clock_;
};

// PRX-19
TEST_F(Remembers, AListForATimeAndUntilTheUpstreamHasAnother) {
  RememberedLists lists(clock_, {.time = 10s});
  const auto names = names_of({"x"});
  lists.put("me", served_, Kind::tool, lists.begin(served_), names);
  EXPECT_EQ(lists.find("me", served_, Kind::tool), names);
  EXPECT_EQ(lists.find("you", served_, Kind::tool), nullptr);
  EXPECT_EQ(lists.find("me", served_, Kind::prompt), nullptr);
  clock_.advance(10s);
  EXPECT_EQ(lists.find("me", served_, Kind::tool), nullptr);
  lists.put("me", served_, Kind::tool, lists.begin(served_), names);
  EXPECT_EQ(lists.find("me", served_, Kind::tool), names);
  served_->lists_changed();
  EXPECT_EQ(lists.find("me", served_, Kind::tool), nullptr);
}

TEST_F(Remembers, TheReadingThatBeganLater) {
  RememberedLists lists(clock_, {.time = 10s});
  const auto slow = lists.begin(served_);
  clock_.advance(1s);
  const auto newer = names_of({"newer"});
  lists.put("me", served_, Kind::tool, lists.begin(served_), newer);
  lists.put("me", served_, Kind::tool, slow, names_of({"older"}));
  EXPECT_EQ(lists.find("me", served_, Kind::tool), newer);
  clock_.advance(1s);
  lists.put("me", served_, Kind::tool, lists.begin(served_), nullptr);
  EXPECT_EQ(lists.find("me", served_, Kind::tool), nullptr) << "forgotten";
}

TEST_F(Remembers, OnlySoMuch) {
  RememberedLists lists(clock_, {.time = 10s, .bytes = std::size_t{1} << 16U});
  for (int i = 0; i < 10'000; ++i)
    lists.put(fmt::format("caller {}", i), served_, Kind::tool, lists.begin(served_), names_of({"some_tool"}));
  EXPECT_LE(lists.bytes(), std::size_t{1} << 16U);
  EXPECT_GT(lists.bytes(), 0U);
  clock_.advance(10s);
  lists.drop_expired();
  EXPECT_EQ(lists.bytes(), 0U);
}

}  // namespace
}  // namespace proteus::gateway
