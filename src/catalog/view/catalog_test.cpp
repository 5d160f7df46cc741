#include "catalog/view/catalog.hpp"

#include <atomic>
#include <span>
#include <thread>
#include <unordered_map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/testing/test_support.hpp"
#include "catalog/view/cursor.hpp"
#include "catalog/view/view.hpp"

namespace proteus::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::listed;
using testing::names;
using testing::snapshot;
using testing::tool;

SnapshotPointer tools(std::string upstream, std::uint64_t version, std::vector<std::string> texts) {
  return snapshot(std::move(upstream), version, {.tools = std::move(texts), .resources = {}, .templates = {}});
}

std::string owner_of(const CatalogState::Pointer& state, std::string_view name) {
  const View view(state);
  const Found found = view.find(Kind::tool, name);
  return found ? found.snapshot->upstream().value() : "";
}

// REF-06
TEST(Catalog, ShowsWhatIsPublished) {
  Catalog catalog;
  ASSERT_TRUE(catalog.set_order(names({"one", "two"})));
  const auto first = catalog.publish(tools("two", 1, {tool("a")})).value();
  EXPECT_THAT(first.changes.at(0).kinds[Kind::tool].added, ElementsAre("a"));
  EXPECT_TRUE(first.visible.has(Kind::tool));
  EXPECT_FALSE(first.visible.has(Kind::prompt));
  EXPECT_EQ(owner_of(catalog.current(), "a"), "two");
  const auto second = catalog.publish(tools("two", 2, {tool("b")})).value();
  EXPECT_EQ(owner_of(second.before, "a"), "two");
  EXPECT_EQ(owner_of(second.after, "a"), "");
  EXPECT_EQ(owner_of(second.after, "b"), "two");
  EXPECT_GT(second.after->version(), second.before->version());
  EXPECT_EQ(second.after->count(Kind::tool), 1U);
}

// REF-06
TEST(Catalog, StaysAsItIsWhereNothingReallyChanged) {
  Catalog catalog;
  ASSERT_TRUE(catalog.set_order(names({"one"})));
  ASSERT_TRUE(catalog.publish(tools("one", 1, {tool("a"), tool("b")})));
  const auto version = catalog.version();
  const auto again = catalog.publish(tools("one", 2, {tool("b"), tool("a")})).value();
  EXPECT_THAT(again.changes, IsEmpty());
  EXPECT_TRUE(again.visible.empty());
  EXPECT_EQ(again.before, again.after);
  EXPECT_EQ(catalog.version(), version);
}

TEST(Catalog, RefusesWhatComesTooLateOrFromNobody) {
  Catalog catalog;
  ASSERT_TRUE(catalog.set_order(names({"one"})));
  ASSERT_TRUE(catalog.publish(tools("one", 5, {tool("a")})));
  EXPECT_EQ(catalog.publish(tools("one", 5, {tool("b")})).error().kind(), ErrorKind::conflict);
  EXPECT_EQ(catalog.publish(tools("other", 1, {tool("b")})).error().kind(), ErrorKind::not_found);
  ASSERT_TRUE(catalog.set_order({}));
  EXPECT_EQ(catalog.publish(tools("one", 6, {tool("b")})).error().kind(), ErrorKind::not_found);
  EXPECT_FALSE(catalog.set_order(names({"a", "a"})));
  EXPECT_FALSE(catalog.set_order(names({""})));
}

// PRX-15
TEST(Catalog, GivesANameToTheFirstConfigured) {
  Catalog catalog;
  ASSERT_TRUE(catalog.set_order(names({"one", "two", "three"})));
  ASSERT_TRUE(catalog.publish(tools("three", 1, {tool("x", "3")})));
  ASSERT_TRUE(catalog.publish(tools("one", 1, {tool("x", "1")})));
  const auto behind = catalog.publish(tools("two", 1, {tool("x", "2"), tool("y")})).value();
  EXPECT_EQ(owner_of(behind.after, "x"), "one");
  EXPECT_THAT(listed(View(behind.after), Kind::tool), ElementsAre("x", "y"));
  EXPECT_EQ(behind.after->count(Kind::tool), 4U);

  const auto gone = catalog.set_order(names({"two", "three"})).value();
  EXPECT_THAT(gone.changes.at(0).kinds[Kind::tool].removed, ElementsAre("x"));
  EXPECT_TRUE(gone.visible.has(Kind::tool));
  EXPECT_EQ(owner_of(gone.after, "x"), "two");
  EXPECT_THAT(listed(View(gone.after), Kind::tool), ElementsAre("x", "y"));
  const auto renamed = catalog.publish(tools("two", 2, {tool("y")})).value();
  EXPECT_EQ(owner_of(renamed.after, "x"), "three");
  EXPECT_THAT(listed(View(renamed.after), Kind::tool), ElementsAre("y", "x"));
}

// REF-06
TEST(Catalog, ConcernsNobodyByAChangeBehindAnothersName) {
  Catalog catalog;
  ASSERT_TRUE(catalog.set_order(names({"one", "two"})));
  ASSERT_TRUE(catalog.publish(tools("one", 1, {tool("x")})));
  ASSERT_TRUE(catalog.publish(tools("two", 1, {tool("x", "a")})));
  const auto hidden = catalog.publish(tools("two", 2, {tool("x", "b")})).value();
  EXPECT_THAT(hidden.changes.at(0).kinds[Kind::tool].changed.at(0).name, "x");
  EXPECT_TRUE(hidden.visible.empty());
  const Layers second{Access::only({"two"}), {}, {}};
  EXPECT_TRUE(concerned(View(hidden.before, second), View(hidden.after, second), hidden.changes[0]).has(Kind::tool));
  const Layers first{Access::only({"one"}), {}, {}};
  EXPECT_TRUE(concerned(View(hidden.before, first), View(hidden.after, first), hidden.changes[0]).empty());
}

TEST(Catalog, KeepsItsLayoutWhileProvidersOnlyComeAndGo) {
  Catalog catalog;
  ASSERT_TRUE(catalog.set_order(names({"one", "two", "three"})));
  ASSERT_TRUE(catalog.publish(tools("two", 1, {tool("x")})));
  ASSERT_TRUE(catalog.publish(tools("three", 1, {tool("x")})));
  const auto layout = catalog.current()->ranks().layout;
  const auto shorter = catalog.set_order(names({"one", "three", "four"})).value();
  EXPECT_EQ(shorter.after->ranks().layout, layout);
  EXPECT_EQ(owner_of(shorter.after, "x"), "three");
  EXPECT_THAT(shorter.changes.at(0).upstream.value(), "two");
  EXPECT_EQ(catalog.set_order(names({"one", "three", "four"})).value().after, shorter.after);
  ASSERT_TRUE(catalog.publish(tools("four", 1, {tool("x"), tool("y")})));
  EXPECT_EQ(owner_of(catalog.current(), "x"), "three");

  const auto reordered = catalog.set_order(names({"four", "three"})).value();
  EXPECT_NE(reordered.after->ranks().layout, layout);
  EXPECT_EQ(owner_of(reordered.after, "x"), "four");
  EXPECT_TRUE(reordered.visible.has(Kind::tool));
  EXPECT_THAT(listed(View(reordered.after), Kind::tool), ElementsAre("x", "y"));
  EXPECT_EQ(reordered.after->count(Kind::tool), 3U);
  EXPECT_EQ(reordered.after->places(), 2U);
}

// REP-05
TEST(Catalog, UnderstandsTheCursorsOfOthersThatHaveTheSameProviders) {
  Catalog one(Catalog::Layout::shared);
  ASSERT_TRUE(one.set_order(names({"gone", "a", "b"})));
  ASSERT_TRUE(one.set_order(names({"a", "b"})));
  Catalog two(Catalog::Layout::shared);
  ASSERT_TRUE(two.set_order(names({"a", "b", "later"})));
  const Cursor in_front = cursor_at(*one.current(), {0, "x"});
  const Cursor at_b = cursor_at(*one.current(), {View::kMaxFront + 1, "x"});
  EXPECT_TRUE(resume(*two.current(), in_front));
  EXPECT_TRUE(resume(*two.current(), at_b));
  ASSERT_TRUE(two.set_order(names({"b", "a"})));
  EXPECT_FALSE(resume(*two.current(), at_b));
  EXPECT_FALSE(resume(*Catalog().current(), at_b));
}

TEST(Catalog, DoesNotGrowByProvidersThatCameAndWent) {
  Catalog catalog;
  for (int i = 0; i < 500; ++i) {
    const std::string name = "u" + std::to_string(i);
    ASSERT_TRUE(catalog.set_order(names({name})));
    ASSERT_TRUE(catalog.publish(tools(name, 1, {tool("x")})));
    ASSERT_EQ(owner_of(catalog.current(), "x"), name);
  }
  EXPECT_LT(catalog.current()->places(), 100U);
  EXPECT_EQ(catalog.current()->count(Kind::tool), 1U);
}

// Names are indexed by a short hash, and an upstream can choose names with the same one.
TEST(Catalog, ShowsANameThatNobodyElseHasAnyMoreWhateverItsHash) {
  std::unordered_map<std::uint32_t, std::string> by_hash;
  std::string stays;
  std::string goes;
  for (int i = 0; stays.empty(); ++i) {
    goes = "t" + std::to_string(i);
    const auto [found, is_new] = by_hash.try_emplace(name_hash(goes), goes);
    if (!is_new) stays = found->second;
  }
  Catalog catalog;
  ASSERT_TRUE(catalog.set_order(names({"one", "two"})));
  ASSERT_TRUE(catalog.publish(tools("one", 1, {tool(stays), tool(goes)})));
  ASSERT_TRUE(catalog.publish(tools("two", 1, {tool(goes)})));
  ASSERT_TRUE(catalog.publish(tools("one", 2, {tool(stays)})));
  EXPECT_THAT(listed(View(catalog.current()), Kind::tool), ElementsAre(stays, goes));
  ASSERT_TRUE(catalog.publish(tools("one", 3, {tool(goes)})));
  EXPECT_THAT(listed(View(catalog.current()), Kind::tool), ElementsAre(goes));
}

// Publishing step by step must end in the same state as building at once.
TEST(Catalog, ShowsTheSameHoweverItCameAbout) {
  Catalog stepwise;
  const auto order = names({"u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9", "u10", "u11"});
  ASSERT_TRUE(stepwise.set_order(order));
  const auto texts = [](int upstream, int version) {
    std::vector<std::string> out;
    for (int i = 0; i < 30; ++i) {
      if ((i * 7 + upstream * 3 + version * 5) % 4 != 0) out.push_back(tool("t" + std::to_string((i + version) % 40)));
    }
    return out;
  };
  for (int version = 1; version <= 5; ++version) {
    for (int i = 0; i < 12; ++i) {
      ASSERT_TRUE(stepwise.publish(
          tools(order[static_cast<std::size_t>(i)].value(), static_cast<std::uint64_t>(version), texts(i, version))));
    }
    Catalog backwards;
    ASSERT_TRUE(backwards.set_order(order));
    for (int i = 11; i >= 0; --i)
      ASSERT_TRUE(backwards.publish(tools(order[static_cast<std::size_t>(i)].value(), 1, texts(i, version))));
    const View one(stepwise.current());
    const View other(backwards.current());
    EXPECT_EQ(listed(one, Kind::tool), listed(other, Kind::tool));
    EXPECT_EQ(listed(one, Kind::tool, 3), listed(other, Kind::tool));
    EXPECT_EQ(one.count(Kind::tool), listed(one, Kind::tool).size());
    for (const auto& upstream : order)
      EXPECT_EQ(one.shadowed(upstream).size(), other.shadowed(upstream).size());
  }
}

// REF-13
TEST(Catalog, ShowsAReaderTheOldSetOrTheNewOneWhole) {
  constexpr int kVersions = 300;
  Catalog catalog;
  ASSERT_TRUE(catalog.set_order(names({"one", "two"})));
  std::vector<SnapshotPointer> prepared[2];
  for (int version = 1; version <= kVersions; ++version) {
    for (int upstream = 0; upstream < 2; ++upstream) {
      std::vector<std::string> texts(10);
      for (std::size_t i = 0; i < texts.size(); ++i)
        texts[i] = tool(fmt::format("{}_{}_v{}", upstream == 0 ? "one" : "two", i, version));
      prepared[upstream].push_back(
          tools(upstream == 0 ? "one" : "two", static_cast<std::uint64_t>(version), std::move(texts)));
    }
  }
  for (const auto& versions : prepared)
    ASSERT_TRUE(catalog.publish(versions.front()));
  std::atomic<int> ready = 0;
  std::atomic<bool> stop = false;
  const auto read = [&] {
    CatalogReader reader(catalog);
    std::uint64_t seen = 0;
    ready.fetch_add(1);
    while (!stop) {
      const auto& state = reader.current();
      EXPECT_GE(state->version(), seen);
      seen = state->version();
      const View view(state);
      const auto all = listed(view, Kind::tool, 7);
      EXPECT_EQ(all.size(), 20U);
      for (std::size_t i = 0; i + 10 <= all.size(); i += 10) {
        const std::string version = all[i].substr(all[i].find("_v"));
        for (std::size_t k = i; k < i + 10; ++k) {
          EXPECT_TRUE(all[k].ends_with(version)) << all[k] << " beside " << all[i];
          EXPECT_TRUE(view.find(Kind::tool, all[k]));
        }
      }
    }
  };
  std::thread readers[] = {std::thread(read), std::thread(read)};
  while (ready < 2)
    std::this_thread::yield();
  const auto write = [&](int upstream) {
    for (const auto& one : std::span(prepared[upstream]).subspan(1))
      EXPECT_TRUE(catalog.publish(one));
  };
  std::thread writers[] = {std::thread(write, 0), std::thread(write, 1)};
  for (auto& writer : writers)
    writer.join();
  stop = true;
  for (auto& reader : readers)
    reader.join();
  EXPECT_EQ(listed(View(catalog.current()), Kind::tool).size(), 20U);
}

}  // namespace
}  // namespace proteus::catalog
