#include <gmock/gmock.h>

#include "gateway/testing/routing_fixture.hpp"
#include "gateway/testing/test_gateway.hpp"

// PRX-19: a request goes to the upstream that lists the entry to its caller, and to no other.
namespace proteus::gateway {
namespace {

using catalog::Kind;
using test::ListingUpstream;
using test::TestGateway;
using test::upstream_at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

providers::UpstreamSettings cached(const ListingUpstream& upstream, std::optional<std::string> prefix = {}) {
  auto settings = upstream_at(upstream.name(), upstream.port());
  settings.prefix = std::move(prefix);
  return settings;
}

providers::UpstreamSettings direct(const ListingUpstream& upstream, std::optional<std::string> prefix = {}) {
  auto settings = cached(upstream, std::move(prefix));
  settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  return settings;
}

// Returns the name of the upstream that answered a call, or the message of an error.
std::string called(TestGateway& gateway, std::string_view tool, std::string_view meta = {}) {
  const auto answer = gateway.call(tool, R"({"secret":1})", {}, meta);
  const auto* error = answer.as_object().if_contains("error");
  return std::string(error != nullptr ? error->at("message").as_string()
                                      : answer.at("result").at("content").at(0).at("text").as_string());
}

std::string read(TestGateway& gateway, std::string_view uri) {
  const auto answer = gateway.ask("resources/read", fmt::format(R"("uri":"{}")", uri), uri);
  const auto* error = answer.as_object().if_contains("error");
  return std::string(error != nullptr ? error->at("message").as_string()
                                      : answer.at("result").at("contents").at(0).at("text").as_string());
}

std::string description(TestGateway& gateway, std::string_view tool) {
  std::string found;
  std::string cursor;
  do {
    const auto page = gateway.ask("tools/list", cursor).at("result");
    for (const auto& each : page.at("tools").as_array()) {
      if (each.at("name").as_string() == tool) found += each.at("description").as_string();
    }
    const auto* next = page.as_object().if_contains("nextCursor");
    cursor = next != nullptr ? fmt::format(R"("cursor":"{}")", std::string_view(next->as_string())) : "";
  } while (!cursor.empty());
  return found;
}

struct Two {
  ListingUpstream one{"one"};
  ListingUpstream two{"two"};
};

TEST(Routing, SendsNothingToALiveUpstreamWithoutAPrefixThatDoesNotListIt) {
  Two of;
  of.one.show(Kind::tool, "", {"own"});
  of.two.show(Kind::tool, "", {"zz"});
  TestGateway gateway({direct(of.one, ""), direct(of.two)});
  gateway.discover();
  EXPECT_EQ(called(gateway, "two_zz"), "two") << "also where no list came before";
  EXPECT_EQ(called(gateway, "own"), "one");
  EXPECT_THAT(called(gateway, "two_none"), HasSubstr("two_none"));
  EXPECT_THAT(of.one.take_asked(), SizeIs(1));
  EXPECT_THAT(of.two.take_asked(), SizeIs(1));
}

TEST(Routing, TellsPrefixesApartThatBeginAlike) {
  ListingUpstream git("git");
  ListingUpstream hub("git_hub");
  git.show(Kind::tool, "", {"log"});
  hub.show(Kind::tool, "", {"create"});
  TestGateway gateway({direct(git), direct(hub)});
  gateway.discover();
  EXPECT_EQ(called(gateway, "git_hub_create"), "git_hub");
  EXPECT_EQ(called(gateway, "git_log"), "git") << "the only one whose prefix fits";
  const auto asked = git.take_asked();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked.front().name, "log");
}

TEST(Routing, CallsWhomTheDescriptionIsOf) {
  for (const bool git_is_direct : {true, false}) {
    ListingUpstream first("first");
    ListingUpstream git("git");
    first.show(Kind::tool, "", {"git_log"});
    git.show(Kind::tool, "", {"log", "blame"});
    TestGateway gateway({direct(first, ""), git_is_direct ? direct(git) : cached(git)});
    gateway.discover();
    EXPECT_EQ(called(gateway, "git_log"), "first");
    EXPECT_EQ(description(gateway, "git_log"), "first");
    EXPECT_EQ(called(gateway, "git_log"), "first");
    EXPECT_EQ(called(gateway, "git_blame"), "git");
    EXPECT_EQ(description(gateway, "git_blame"), "git");
  }
}

TEST(Routing, ReadsResourcesAndTemplatesWhereTheyAreListed) {
  Two of;
  of.one.show(Kind::resource, "", {"test://one"});
  of.one.show(Kind::resource_template, "", {"test://all/{id}"});
  of.two.show(Kind::resource, "", {"test://two", "test://all/7"});
  of.two.show(Kind::resource_template, "", {"test://two/{id}"});
  TestGateway gateway({direct(of.one), direct(of.two)});
  gateway.discover();
  EXPECT_EQ(read(gateway, "test://two"), "two");
  EXPECT_EQ(read(gateway, "test://one"), "one");
  EXPECT_EQ(read(gateway, "test://two/1"), "two");
  EXPECT_EQ(read(gateway, "test://all/1"), "one");
  EXPECT_EQ(read(gateway, "test://all/7"), "two") << "the resource comes before the template";
  EXPECT_THAT(read(gateway, "test://none"), HasSubstr("test://none"));
  const auto completed =
      gateway.ask("completion/complete",
                  R"("ref":{"type":"ref/resource","uri":"test://two/{id}"},"argument":{"name":"id","value":""})");
  EXPECT_EQ(completed.at("result").at("completion").at("values").at(0), "two");
}

TEST(Routing, RemembersListsForATime) {
  Two of;
  of.one.show(Kind::tool, "", {"x"});
  of.two.show(Kind::tool, "", {"y"});
  TestGateway gateway({direct(of.one, ""), direct(of.two, "")});
  gateway.discover();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(called(gateway, "y"), "two");
  EXPECT_EQ(of.one.count("tools/list"), 1U);
  EXPECT_EQ(of.two.count("tools/list"), 1U);
  EXPECT_EQ(called(gateway, "y", R"(,"traceparent":"00-1-2-01","progressToken":1)"), "two");
  EXPECT_EQ(of.one.count("tools/list"), 1U) << "neither changes what is listed";
  EXPECT_THAT(called(gateway, "y", R"(,"user":"ada")"), HasSubstr("y")) << "nothing is listed to her";
  EXPECT_EQ(of.two.count("tools/list"), 2U);
}

TEST(Routing, LearnsFromTheListsThatClientsAskFor) {
  Two of;
  of.one.show(Kind::tool, "", {"x"});
  of.two.show(Kind::tool, "", {"x", "y"});
  TestGateway gateway({direct(of.one, ""), direct(of.two, "")});
  gateway.discover();
  EXPECT_EQ(description(gateway, "x"), "one");
  EXPECT_EQ(called(gateway, "x"), "one");
  EXPECT_EQ(of.one.count("tools/list"), 1U);
  of.one.show(Kind::tool, "", {});
  EXPECT_EQ(description(gateway, "x"), "two");
  EXPECT_EQ(called(gateway, "x"), "two");
  EXPECT_EQ(of.one.count("tools/list"), 2U);
}

TEST(Routing, ForgetsListsThatAnUpstreamSaysAreOthers) {
  Two of;
  of.one.show(Kind::tool, "", {"move", "x"});
  of.two.show(Kind::tool, "", {"y"});
  TestGateway gateway({direct(of.one, ""), direct(of.two, "")});
  gateway.discover();
  of.one.set_refreshing(true);
  EXPECT_EQ(called(gateway, "move"), "one");
  of.one.show(Kind::tool, "", {"move"});
  of.two.show(Kind::tool, "", {"x"});
  EXPECT_EQ(called(gateway, "x"), "two") << "by `refresh_capabilities`";
}

TEST(Routing, FindsWhatCameWithoutBeingAnnounced) {
  Two of;
  of.two.show(Kind::tool, "", {"y"});
  TestGateway gateway({direct(of.one, ""), direct(of.two, "")});
  gateway.discover();
  EXPECT_EQ(called(gateway, "y"), "two");
  of.one.show(Kind::tool, "", {"new"});
  EXPECT_EQ(called(gateway, "new"), "one");
}

TEST(Routing, StopsReadingListsForAnAgentThatGuessesNames) {
  Two of;
  TestGateway gateway({direct(of.one, ""), direct(of.two, "")});
  gateway.discover();
  for (int i = 0; i < 100; ++i)
    EXPECT_THAT(called(gateway, fmt::format("guess{}", i)), HasSubstr("guess"));
  EXPECT_LT(of.one.count("tools/list"), 50U);
  EXPECT_THAT(of.one.take_asked(), IsEmpty());
  EXPECT_THAT(of.two.take_asked(), IsEmpty());
}

TEST(Routing, GivesNothingToWhomItCannotAsk) {
  Two of;
  of.two.show(Kind::tool, "", {"y"});
  of.one.set_mute(true);
  TestGateway gateway({direct(of.one, ""), direct(of.two, "")});
  gateway.discover();
  EXPECT_EQ(called(gateway, "y"), "two");
  EXPECT_THAT(called(gateway, "x"), HasSubstr("upstream one")) << "the right place or nowhere";
  EXPECT_THAT(of.one.take_asked(), IsEmpty());
}

TEST(Routing, AsksAllPages) {
  ListingUpstream one("one", 2);
  ListingUpstream two("two", 2);
  one.show(Kind::tool, "", {"a", "b", "c", "d", "e"});
  two.show(Kind::tool, "", {"e", "f", "g"});
  TestGateway gateway({direct(one, ""), direct(two, "")});
  gateway.discover();
  EXPECT_EQ(called(gateway, "e"), "one");
  EXPECT_EQ(called(gateway, "g"), "two");
  for (const std::string tool : {"a", "e"})
    EXPECT_EQ(description(gateway, tool), "one") << "and once, whichever page it is on";
  EXPECT_EQ(description(gateway, "g"), "two");
}

// PRX-18
TEST(Routing, CallsByPortableNamesAndByTheOriginals) {
  ListingUpstream one("one");
  one.show(Kind::tool, "", {"a.b"});
  auto settings = direct(one, "my.");
  settings.names = providers::NameStyle::portable;
  TestGateway gateway({settings});
  gateway.discover();
  EXPECT_THAT(gateway.tools(), ElementsAre("my_a_b"));
  EXPECT_EQ(called(gateway, "my_a_b"), "one");
  EXPECT_EQ(called(gateway, "my.a.b"), "one");
  for (const auto& asked : one.take_asked())
    EXPECT_EQ(asked.name, "a.b");
}

// AUT-02
TEST(Routing, AsksOnlyThoseTheCallerMayUse) {
  Two of;
  of.one.show(Kind::tool, "", {"x"});
  of.two.show(Kind::tool, "", {"x"});
  TestGateway gateway({direct(of.one, ""), direct(of.two, "")},
                      {.principals = {{.name = "ci", .token = Secret("token"), .upstreams = {"two"}}}});
  gateway.discover();
  const auto answer = gateway.call("x", "{}", test::bearer("token"));
  EXPECT_EQ(answer.at("result").at("content").at(0).at("text"), "two");
  EXPECT_EQ(of.one.count("tools/list"), 0U);
}

}  // namespace
}  // namespace proteus::gateway
