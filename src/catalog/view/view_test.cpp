#include "catalog/view/view.hpp"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/testing/test_support.hpp"
#include "catalog/view/cursor.hpp"
#include "catalog/view/view_cache.hpp"

namespace proteus::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::listed;
using testing::names;
using testing::resource;
using testing::snapshot;
using testing::tool;
using testing::uri_template;

// Tools by provider: a has x and y, b has x and z, c has w and x.
class Views : public ::testing::Test {
 protected:
  Views() {
    EXPECT_TRUE(catalog_.set_order(names({"a", "b", "c"})));
    publish(
        snapshot("a", 1, {.tools = {tool("x", "a"), tool("y")}, .resources = {resource("r://1")}, .templates = {}}));
    publish(snapshot("b", 1,
                     {.tools = {tool("x", "b"), tool("z")},
                      .resources = {resource("r://1"), resource("r://2")},
                      .templates = {uri_template("t://{id}"), uri_template("t://fixed/{id}")}}));
    publish(snapshot(
        "c", 1, {.tools = {tool("w"), tool("x", "c")}, .resources = {}, .templates = {uri_template("t://{+any}")}}));
  }

  void publish(const SnapshotPointer& one) { EXPECT_TRUE(catalog_.publish(one)); }
  View view(Layers layers = {}) const { return View(catalog_.current(), std::move(layers)); }
  View only(std::vector<std::string> patterns) const { return view({Access::only(std::move(patterns)), {}, {}}); }

  static std::string owner(const View& view, std::string_view name) {
    const Found found = view.find(Kind::tool, name);
    return found ? found.snapshot->upstream().value() : "";
  }

  Catalog catalog_;
};

// PRX-15
TEST_F(Views, ListByRankAndThenByName) {
  EXPECT_THAT(listed(view(), Kind::tool), ElementsAre("x", "y", "z", "w"));
  EXPECT_THAT(listed(view(), Kind::resource), ElementsAre("r://1", "r://2"));
  EXPECT_THAT(listed(view(), Kind::prompt), IsEmpty());
  EXPECT_EQ(view().count(Kind::tool), 4U);
}

TEST_F(Views, GatherWholeListsWhereTheyCan) {
  const View all = view();
  const Page page = all.page(Kind::tool, {}, 100);
  ASSERT_EQ(page.pieces.size(), 5U);
  EXPECT_EQ(page.pieces[0], catalog_.current()->at(0)->list(Kind::tool).joined());
  EXPECT_EQ(page.pieces[2], tool("z"));
  EXPECT_EQ(page.definitions, 4U);
  EXPECT_FALSE(page.next);
}

TEST_F(Views, GiveTheSamePageByPage) {
  for (const std::size_t size : {1U, 2U, 3U, 4U, 5U})
    EXPECT_THAT(listed(view(), Kind::tool, size), ElementsAre("x", "y", "z", "w")) << size;
  const View all = view();
  const Page page = all.page(Kind::tool, {}, 2);
  EXPECT_EQ(page.next, (Position{View::kMaxFront, "y"}));
  EXPECT_FALSE(all.page(Kind::tool, {View::kMaxFront + 1, "z"}, 1).next);
  EXPECT_EQ(all.page(Kind::tool, {View::kMaxFront + 99, "z"}, 1).definitions, 0U);
}

TEST_F(Views, KeepTheirPlaceWhenDefinitionsComeAndGoBetweenPages) {
  const Page first = view().page(Kind::tool, {}, 2);
  publish(snapshot("a", 2, {.tools = {tool("x", "a"), tool("m")}, .resources = {}, .templates = {}}));
  const View later = view();
  EXPECT_EQ("[" + later.page(Kind::tool, *first.next, 10).str() + "]", "[" + tool("z") + "," + tool("w") + "]");
}

TEST_F(Views, HandTheirBytesToAReply) {
  auto shared = std::make_shared<const View>(catalog_.current());
  mcp::Payload payload;
  shared->page(Kind::tool, {}, 1).append_to(payload, shared);
  shared.reset();
  publish(snapshot("a", 2, {}));
  EXPECT_EQ(payload.str(), tool("x", "a"));
}

// AUT-02
TEST_F(Views, ShowNothingOfAProviderThatIsNotAllowed) {
  const View some = only({"b", "c"});
  EXPECT_THAT(listed(some, Kind::tool), ElementsAre("x", "z", "w"));
  EXPECT_EQ(owner(some, "x"), "b");
  EXPECT_EQ(owner(some, "y"), "");
  EXPECT_THAT(listed(some, Kind::resource), ElementsAre("r://1", "r://2"));
  EXPECT_EQ(some.count(Kind::tool), 3U);
  EXPECT_THAT(some.shadowed(UpstreamName("a")), IsEmpty());
  EXPECT_THAT(some.shadowed(UpstreamName("b")), IsEmpty());
  ASSERT_EQ(some.shadowed(UpstreamName("c")).size(), 1U);
  EXPECT_EQ(some.shadowed(UpstreamName("c"))[0].by.value(), "b");

  const View last = only({"c"});
  EXPECT_THAT(listed(last, Kind::tool), ElementsAre("w", "x"));
  EXPECT_EQ(owner(last, "x"), "c");
  EXPECT_FALSE(last.find(Kind::resource, "r://1"));
  EXPECT_THAT(listed(only({}), Kind::tool), IsEmpty());
  EXPECT_EQ(owner(only({}), "x"), "");
  EXPECT_FALSE(only({}).match_template("t://1"));
}

// PRX-15
TEST_F(Views, TellWhichNamesOfAProviderAreAnothers) {
  const auto shadowed = view().shadowed(UpstreamName("b"));
  ASSERT_EQ(shadowed.size(), 2U);
  EXPECT_EQ(shadowed[0].kind, Kind::tool);
  EXPECT_EQ(shadowed[0].name, "x");
  EXPECT_EQ(shadowed[0].by.value(), "a");
  EXPECT_EQ(shadowed[1].kind, Kind::resource);
  EXPECT_EQ(shadowed[1].name, "r://1");
  EXPECT_THAT(view().shadowed(UpstreamName("a")), IsEmpty());
  EXPECT_THAT(view().shadowed(UpstreamName("nobody")), IsEmpty());
}

TEST_F(Views, FindTheTemplateOfAUri) {
  const View all = view();
  EXPECT_EQ(all.match_template("t://7").definition->own, "t://{id}");
  EXPECT_EQ(all.match_template("t://fixed/7").definition->own, "t://fixed/{id}");
  EXPECT_EQ(all.match_template("t://a/b").snapshot->upstream().value(), "c");
  EXPECT_FALSE(all.match_template("u://a"));
  EXPECT_FALSE(all.match_template("t://" + std::string(kLongestUri, 'x')));
  EXPECT_EQ(only({"c"}).match_template("t://7").snapshot->upstream().value(), "c");
}

// SEC-03: the URIs of one request share one budget.
TEST_F(Views, LookForTemplatesOfManyUrisWithinOneBudget) {
  const View all(catalog_.current());
  View::TemplateBudget budget(20);
  EXPECT_TRUE(all.match_template("t://7", budget));
  EXPECT_FALSE(all.match_template("t://" + std::string(500, 'a') + "/b", budget));
  EXPECT_FALSE(all.match_template("t://7", budget));
  EXPECT_TRUE(all.match_template("t://7"));
}

TEST_F(Views, PutASessionsToolsInFront) {
  const auto session =
      snapshot("session", 1, {.tools = {tool("w", "mine"), tool("new")}, .resources = {}, .templates = {}});
  const View mine = view({Access::only({"a", "c"}), {session}, {}});
  EXPECT_THAT(listed(mine, Kind::tool), ElementsAre("new", "w", "x", "y"));
  EXPECT_EQ(owner(mine, "w"), "session");
  EXPECT_THAT(listed(mine, Kind::tool, 1), ElementsAre("new", "w", "x", "y"));
  ASSERT_EQ(mine.shadowed(UpstreamName("c")).size(), 2U);
  EXPECT_EQ(mine.shadowed(UpstreamName("c"))[0].by.value(), "session");
  EXPECT_THROW(view({Access::all(), std::vector<SnapshotPointer>(View::kMaxFront + 1), {}}), std::logic_error);
}

// A lens made of a function.
class Through : public Lens {
 public:
  using See = std::function<SnapshotPointer(const SnapshotPointer&)>;
  explicit Through(See see) : see_(std::move(see)) {}
  SnapshotPointer through(const SnapshotPointer& one) const override { return see_(one); }
  DefinitionList::Pointer through(const DefinitionList::Pointer& list) const override { return list; }
  bool admits(Kind, const Names&) const override { return true; }

 private:
  See see_;
};

TEST_F(Views, LookThroughALens) {
  const auto lens = std::make_shared<Through>([](const SnapshotPointer& one) {
    if (one->upstream().value() == "c") return one;
    return snapshot(one->upstream().value(), one->version(),
                    {.tools = {tool("x", one->upstream().value() + ", and more")}, .resources = {}, .templates = {}});
  });
  const View through = view({Access::only({"b", "c"}), {}, lens});
  EXPECT_THAT(listed(through, Kind::tool), ElementsAre("x", "w"));
  EXPECT_EQ(through.find(Kind::tool, "x").definition->text, tool("x", "b, and more"));
  EXPECT_EQ(owner(through, "z"), "");
  const auto hiding = std::make_shared<Through>(
      [](const SnapshotPointer& one) { return one->upstream().value() == "a" ? snapshot("a", 1, {}) : one; });
  EXPECT_EQ(owner(view({Access::all(), {}, hiding}), "x"), "b");
  EXPECT_THAT(listed(view({Access::all(), {}, hiding}), Kind::tool), ElementsAre("x", "z", "w"));
}

TEST_F(Views, DifferInTheListsThatAreWrittenOtherwise) {
  const View plain = view({});
  EXPECT_TRUE(differing(plain, view({})).empty());
  const auto same = std::make_shared<Through>([](const SnapshotPointer& one) { return one; });
  EXPECT_TRUE(differing(plain, view({Access::all(), {}, same})).empty());
  const KindSet less = differing(plain, view({Access::only({"b", "c"}), {}, {}}));
  EXPECT_TRUE(less.has(Kind::tool));
  EXPECT_FALSE(less.has(Kind::prompt));
}

// PRX-18
TEST(View, FindsAPortableNameByBothItsNames) {
  Catalog catalog;
  ASSERT_TRUE(catalog.set_order(names({"a", "b"})));
  const NameRules rules{"up.", NameStyle::portable};
  const auto one = snapshot("b", 1, {.tools = {tool("read file")}, .resources = {}, .templates = {}}, rules);
  ASSERT_TRUE(catalog.publish(one));
  const View view(catalog.current());
  EXPECT_THAT(listed(view, Kind::tool), ElementsAre("up_read_file"));
  EXPECT_EQ(view.find(Kind::tool, "up_read_file").definition->own, "read file");
  EXPECT_EQ(view.find(Kind::tool, "up.read file").definition->own, "read file");
  EXPECT_FALSE(view.find(Kind::tool, "read file"));
  EXPECT_FALSE(View(catalog.current(), {Access::only({"a"}), {}, {}}).find(Kind::tool, "up.read file"));

  // A tool that is not listed cannot be called by its alias either.
  ASSERT_TRUE(catalog.publish(snapshot("a", 1, {.tools = {tool("up_read_file")}, .resources = {}, .templates = {}})));
  EXPECT_FALSE(View(catalog.current()).find(Kind::tool, "up.read file"));
}

TEST(Access, FitsNamesAndPatterns) {
  EXPECT_TRUE(fits("*", ""));
  EXPECT_TRUE(fits("bank*", "banking"));
  EXPECT_TRUE(fits("*a*b*", "xxaxxbxx"));
  EXPECT_TRUE(fits("a?c", "abc"));
  EXPECT_FALSE(fits("a?c", "ac"));
  EXPECT_FALSE(fits("a*c", "acd"));
  EXPECT_FALSE(fits("", "a"));
  EXPECT_TRUE(Access::only({"x", "*"}).is_all());
  EXPECT_FALSE(Access::only({}).allows(UpstreamName("a")));
  EXPECT_EQ(Access::only({"a", "b", "a"}).fingerprint(), Access::only({"b", "a"}).fingerprint());
  EXPECT_NE(Access::only({"ab"}).fingerprint(), Access::only({"a", "b"}).fingerprint());
  EXPECT_NE(Access::only({}).fingerprint(), Access::all().fingerprint());
}

TEST_F(Views, AreKeptWhileTheStateLastsAndTheyAreUsed) {
  ManualClock clock;
  ViewCache cache(clock, 2);
  int made = 0;
  const auto get = [&](std::string_view who) {
    return cache.get(catalog_.current(), who, [&] {
      ++made;
      return Layers{};
    });
  };
  const auto first = get("p");
  EXPECT_EQ(get("p"), first);
  EXPECT_EQ(made, 1);
  clock.advance(std::chrono::seconds(1));
  (void)get("q");
  clock.advance(std::chrono::seconds(1));
  (void)get("p");
  (void)get("r");  // evicts q
  EXPECT_EQ(made, 3);
  EXPECT_EQ(get("p"), first);
  EXPECT_EQ(made, 3);
  cache.drop_unused_since(clock.now() + std::chrono::seconds(1));
  EXPECT_EQ(cache.size(), 0U);
  (void)get("p");
  publish(snapshot("a", 2, {}));
  EXPECT_NE(get("p"), first);
  EXPECT_EQ(cache.size(), 1U);
}

class CursorTexts : public Views {
 protected:
  Cursors cursors_{SealingKey::random()};
};

TEST_F(CursorTexts, OpenToWhatWasSealed) {
  Cursor cursor = cursor_at(*catalog_.current(), {View::kMaxFront + 1, "na me 7:"});
  const std::string text = cursors_.seal(cursor, Kind::tool, "who").value();
  EXPECT_EQ(text.find("na me"), std::string::npos);
  EXPECT_EQ(cursors_.open(text, Kind::tool, "who").value(), cursor);
  EXPECT_EQ(resume(*catalog_.current(), cursor).value(), cursor.position);
}

// PRX-10
TEST_F(CursorTexts, CarryTheCursorOfAProviderThatIsListedLive) {
  Cursor cursor = cursor_at(*catalog_.current(), {View::kMaxFront, ""});
  cursor.live = true;
  for (const std::string& own : {std::string(), std::string("5 abc\0\xff", 7), std::string(16384, 'x')}) {
    cursor.provider_cursor = own;
    EXPECT_EQ(cursors_.open(cursors_.seal(cursor, Kind::tool, "").value(), Kind::tool, "").value(), cursor);
  }
  cursor.provider_cursor += 'x';
  EXPECT_EQ(cursors_.seal(cursor, Kind::tool, "").error().kind(), ErrorKind::too_large);
}

TEST_F(CursorTexts, AreRefusedWhereTheyAreNotOfThisList) {
  const std::string text = cursors_.seal(cursor_at(*catalog_.current(), {}), Kind::tool, "who").value();
  EXPECT_FALSE(cursors_.open(text, Kind::prompt, "who"));
  EXPECT_FALSE(cursors_.open(text, Kind::tool, "another"));
  EXPECT_FALSE(Cursors(SealingKey::random()).open(text, Kind::tool, "who"));
  std::string altered = text;
  altered[10] = altered[10] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(cursors_.open(altered, Kind::tool, "who"));
  for (const std::string& bad : {std::string(), std::string("x"), std::string(1'000'000, 'A')})
    EXPECT_EQ(cursors_.open(bad, Kind::tool, "who").error().rpc_code(), -32602);
}

TEST_F(CursorTexts, GoOnAfterAChangeAndEndClearlyWithTheOrder) {
  const Cursor cursor = cursor_at(*catalog_.current(), *view().page(Kind::tool, {}, 1).next);
  publish(snapshot("a", 2, {.tools = {tool("y")}, .resources = {}, .templates = {}}));
  ASSERT_TRUE(catalog_.set_order(names({"a", "b"})));
  EXPECT_TRUE(resume(*catalog_.current(), cursor));
  ASSERT_TRUE(catalog_.set_order(names({"b", "a"})));
  const auto ended = resume(*catalog_.current(), cursor);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().rpc_code(), -32602);
  EXPECT_THAT(ended.error().message(), HasSubstr("Begin again without a cursor"));
  EXPECT_FALSE(resume(*Catalog().current(), cursor));
}

}  // namespace
}  // namespace proteus::catalog
