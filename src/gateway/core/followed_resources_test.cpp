#include "gateway/core/followed_resources.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace proteus::gateway {
namespace {

using catalog::UpstreamName;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class FollowedResourcesTest : public ::testing::Test {
 protected:
  FollowedResourcesTest() { catalog_.set_order({UpstreamName("a"), UpstreamName("b")}).value(); }

  void list(std::string_view upstream, const std::vector<std::string>& uris,
            const std::vector<std::string>& templates = {}) {
    catalog::Snapshot::Lists lists;
    lists[catalog::Kind::resource] = list_of(catalog::Kind::resource, "uri", uris);
    lists[catalog::Kind::resource_template] = list_of(catalog::Kind::resource_template, "uriTemplate", templates);
    catalog_.publish(std::make_shared<const catalog::Snapshot>(UpstreamName(std::string(upstream)), ++version_, lists))
        .value();
  }
  static catalog::DefinitionList::Pointer list_of(catalog::Kind kind, std::string_view member,
                                                  const std::vector<std::string>& names) {
    std::vector<std::string> texts;
    for (const auto& name : names)
      texts.push_back(fmt::format(R"({{"{}":"{}","name":"r"}})", member, name));
    const std::vector<std::string_view> raw(texts.begin(), texts.end());
    return catalog::DefinitionList::build(kind, raw, {}, catalog::ListLimits{}).value();
  }
  void follow(const std::string& uri) { followed_.follow(uri, *catalog_.current()); }

  catalog::Catalog catalog_;
  std::uint64_t version_ = 0;
  FollowedResources followed_;
};

TEST_F(FollowedResourcesTest, AreFollowedWhereTheyAreListed) {
  list("a", {"test://x", "test://y"});
  list("b", {"test://x"});
  follow("test://x");
  follow("test://nowhere");
  EXPECT_THAT(followed_.take_changed(),
              ElementsAre(Pair("a", ElementsAre("test://x")), Pair("b", ElementsAre("test://x"))));
  EXPECT_THAT(followed_.take_changed(), IsEmpty());
  followed_.unfollow("test://x");
  EXPECT_THAT(followed_.take_changed(), ElementsAre(Pair("a", IsEmpty()), Pair("b", IsEmpty())));
}

TEST_F(FollowedResourcesTest, MoveWithTheListsOfTheUpstreams) {
  list("a", {"test://x"});
  follow("test://x");
  // Routing has led a client there, too.
  followed_.add_route("test://x", "a");
  EXPECT_THAT(followed_.take_changed(), ElementsAre(Pair("a", SizeIs(1))));
  list("a", {});
  list("b", {"test://x"});
  followed_.look_at(*catalog_.current());
  EXPECT_THAT(followed_.take_changed(), ElementsAre(Pair("a", IsEmpty()), Pair("b", ElementsAre("test://x"))));
}

TEST_F(FollowedResourcesTest, StayWhereATemplateMatchesWhatIsNoLongerListed) {
  const std::vector<std::string> templates = {"test://{id}"};
  list("a", {"test://x", "test://x/y"}, templates);
  for (const auto* uri : {"test://x", "test://x/y"}) {
    follow(uri);
    followed_.add_route(uri, "a");
  }
  EXPECT_THAT(followed_.take_changed(), ElementsAre(Pair("a", SizeIs(2))));
  list("a", {}, templates);
  followed_.look_at(*catalog_.current());
  EXPECT_THAT(followed_.take_changed(), ElementsAre(Pair("a", ElementsAre("test://x"))));
  followed_.look_at(*catalog_.current());
  EXPECT_THAT(followed_.take_changed(), IsEmpty());
  followed_.unfollow("test://x");
  EXPECT_THAT(followed_.take_changed(), ElementsAre(Pair("a", IsEmpty())));
}

// A caller that follows many resources by slow templates must not keep those of others from being followed.
TEST_F(FollowedResourcesTest, AreFollowedWhereRoutingHasFoundThemHoweverManyThereAre) {
  for (int i = 0; i < 300; ++i) {
    const std::string uri = fmt::format("test://a{}/{}", i, std::string(8000, 'x'));
    follow(uri);
    followed_.add_route(uri, "a");
  }
  follow("test://z");
  followed_.add_route("test://z", "a");
  EXPECT_THAT(followed_.take_changed(), ElementsAre(Pair("a", SizeIs(301))));
  followed_.look_at(*catalog_.current());
  EXPECT_THAT(followed_.take_changed(), IsEmpty());
  followed_.add_route("test://unknown", "b");
  EXPECT_THAT(followed_.take_changed(), IsEmpty()) << "nobody follows it";
}

TEST_F(FollowedResourcesTest, AreFollowedAnewAtAnUpstreamThatWasReplaced) {
  list("a", {"test://x"});
  follow("test://x");
  (void)followed_.take_changed();
  followed_.upstreams_changed();
  EXPECT_THAT(followed_.take_changed(), ElementsAre(Pair("a", ElementsAre("test://x"))));
}

}  // namespace
}  // namespace proteus::gateway
