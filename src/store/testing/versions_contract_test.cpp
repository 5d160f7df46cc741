#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "store/testing/store_contract.hpp"

// Tests of several writers that change the same records.
namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RecordKey key(RecordKind kind, std::string name, std::string part = {}) {
  return {kind, std::move(name), std::move(part)};
}

PinRecord decided(std::string upstream) {
  return {.upstream = std::move(upstream),
          .kind = "tools",
          .name = "pay",
          .hash = "1",
          .definition = "{}",
          .by = "ada",
          .at = at(1)};
}

SealedRecord grant(std::string id) {
  return {.kind = "grant", .id = std::move(id), .text = "{}", .updated_at = at(1), .fault = {}};
}

// REP-03
TEST_P(StoreContract, GivesEachWriteOfARecordANewVersion) {
  const auto first = get(store().write({PutUpstream{upstream("bank")}, AppendAudit{audit("add")}}));
  ASSERT_EQ(first.versions.size(), 1U);
  EXPECT_EQ(get(store().upstream("bank"))->stored.version, first.versions.front());
  const auto second = get(store().write({PutUpstream{upstream("bank")}, PutUpstream{upstream("zoo")}}));
  ASSERT_EQ(second.versions.size(), 2U);
  EXPECT_GT(second.versions[0], first.versions[0]);
  EXPECT_EQ(second.versions[1], second.versions[0] + 1);
  get(store().remove_upstream("bank"));
  const auto again = get(store().write({PutUpstream{upstream("bank")}}));
  EXPECT_GT(again.versions[0], second.versions[1]);
}

// REP-03
TEST_P(StoreContract, ChangesARecordOnlyFromTheVersionThatWasExpected) {
  const struct {
    RecordKey key;
    Write write;
  } all[] = {
      {key(RecordKind::upstream, "bank"), PutUpstream{upstream("bank")}},
      {key(RecordKind::snapshot, "bank", "tools"), PutSnapshot{snapshot("bank", "tools")}},
      {key(RecordKind::setting, "a"), PutSetting{{"a", "1"}}},
      {key(RecordKind::pins, "bank"), PutPin{decided("bank")}},
      {key(RecordKind::tool_session, "s"), PutToolSession{session("s")}},
      {key(RecordKind::session_tool, "s", "x"), PutSessionTool{tool("s", "x")}},
      {key(RecordKind::token, "t"), PutToken{token("t")}},
      {key(RecordKind::sealed, "grant", "g"), PutSealed{grant("g")}},
  };
  for (const auto& one : all) {
    SCOPED_TRACE(to_string(one.key.kind));
    const auto created = get(store().write({Expect{one.key, 0}, one.write}));
    const auto exists = run(store().write({Expect{one.key, 0}, one.write}));
    ASSERT_FALSE(exists);
    EXPECT_EQ(exists.error().kind(), ErrorKind::conflict);
    EXPECT_THAT(exists.error().message(), HasSubstr("exists already"));
    const auto changed = get(store().write({Expect{one.key, created.versions[0]}, one.write}));
    const auto late = run(store().write({Expect{one.key, created.versions[0]}, one.write}));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().kind(), ErrorKind::conflict);
    EXPECT_THAT(late.error().message(), HasSubstr("was changed by somebody else"));
    EXPECT_TRUE(run(store().write({Expect{one.key, changed.versions[0]}, one.write})));
  }
  EXPECT_THAT(run(store().write({Expect{key(RecordKind::upstream, "gone"), 7}})).error().message(),
              HasSubstr("was removed by somebody else"));
  EXPECT_EQ(run(store().write({Expect{key(RecordKind::change, "bank"), 0}})).error().kind(), ErrorKind::invalid);
}

TEST_P(StoreContract, ChecksAllConditionsBeforeItWrites) {
  const auto refused = run(store().write({PutUpstream{upstream("bank")}, AppendChange{change("bank")},
                                          Expect{key(RecordKind::setting, "a"), 3}, AppendAudit{audit("add")}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::conflict);
  EXPECT_THAT(get(store().upstreams()), IsEmpty());
  EXPECT_THAT(get(store().audits(10, std::nullopt)), IsEmpty());
  EXPECT_EQ(get(store().changes(0, 10)).newest, 0U);
  // A record that the unit itself creates does not count.
  EXPECT_TRUE(run(store().write({PutUpstream{upstream("bank")}, Expect{key(RecordKind::upstream, "bank"), 0}})));
}

// REP-03
TEST_P(StoreContract, LosesNoUpdateOfTwoWritersInAThousandRounds) {
  constexpr int kRounds = 1000;
  get(store().put(Setting{"sum", "0"}));
  std::atomic<int> conflicts = 0;
  const auto add = [&](Store& through) {
    Runner runner;
    for (int done = 0; done < kRounds / 2;) {
      const Setting before = runner.get(through.settings("sum")).front();
      auto written = runner.run(through.write({Expect{key(RecordKind::setting, "sum"), before.stored.version},
                                               PutSetting{{"sum", std::to_string(std::stoi(before.value) + 1)}}}));
      if (written) {
        ++done;
      } else {
        ASSERT_EQ(written.error().kind(), ErrorKind::conflict) << written.error().message();
        ++conflicts;
      }
    }
  };
  std::thread one([&] { add(store()); });
  add(other());
  one.join();
  EXPECT_EQ(get(store().setting("sum")), std::to_string(kRounds));
}

TEST_P(StoreContract, ListsSettingsByTheBeginningOfTheirKeys) {
  for (const auto* name : {"a", "a.x", "a.y", "b", "\xff\xff", "\xff\xff.z"})
    get(store().put(Setting{name, "1"}));
  const auto keys = [&](const char* prefix) {
    std::vector<std::string> all;
    for (const Setting& setting : get(store().settings(prefix)))
      all.push_back(setting.key);
    return all;
  };
  EXPECT_THAT(keys("a."), ElementsAre("a.x", "a.y"));
  EXPECT_THAT(keys("a"), ElementsAre("a", "a.x", "a.y"));
  EXPECT_THAT(keys("\xff"), ElementsAre("\xff\xff", "\xff\xff.z"));
  EXPECT_THAT(keys(""), testing::SizeIs(6));
  get(store().write({RemoveSetting{"a.x"}, RemoveSetting{"unknown"}}));
  EXPECT_THAT(keys("a."), ElementsAre("a.y"));
}

TEST_P(StoreContract, ReadsSingleRecords) {
  EXPECT_EQ(get(store().upstream("bank")), std::nullopt);
  EXPECT_EQ(get(store().token("t")), std::nullopt);
  EXPECT_EQ(get(store().tool_session("s")), std::nullopt);
  EXPECT_THAT(get(store().session_tools_of("s")), IsEmpty());
  get(store().write({PutUpstream{upstream("bank")}, PutUpstream{upstream("zoo")}, PutToken{token("t")},
                     PutToolSession{session("s")}, PutSessionTool{tool("s", "y")}, PutSessionTool{tool("s", "x")},
                     PutSessionTool{tool("s2", "z")}}));
  EXPECT_EQ(get(store().upstream("bank")), upstream("bank"));
  EXPECT_EQ(get(store().token("t")), token("t"));
  EXPECT_EQ(get(store().tool_session("s")), session("s"));
  EXPECT_THAT(get(store().session_tools_of("s")), ElementsAre(tool("s", "x"), tool("s", "y")));
}

// OAU-14
TEST_P(StoreContract, GivesATokenToOneOwnerAlone) {
  get(store().write({PutToken{token("a"), {"h1", "h2"}}}));
  const auto taken = run(store().write({PutUpstream{upstream("bank")}, PutToolSession{session("s"), {"h2"}}}));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind(), ErrorKind::conflict);
  EXPECT_THAT(get(store().tool_sessions()), IsEmpty());
  EXPECT_THAT(get(store().upstreams()), IsEmpty());
  // The token was rotated: its former hash is free again, and the owner keeps the others.
  get(store().write({PutToken{token("a"), {"h1", "h3"}}}));
  get(store().write({PutToolSession{session("s"), {"h2"}}}));
  EXPECT_FALSE(run(store().write({PutToken{token("b"), {"h3"}}})));
  get(store().write({RemoveToken{"a"}, RemoveToolSession{"s"}}));
  EXPECT_TRUE(run(store().write({PutToken{token("b"), {"h1", "h2", "h3"}}})));
}

}  // namespace
}  // namespace proteus::store::test
