#include "store/testing/store_contract.hpp"

#include <thread>

#include <gmock/gmock.h>

namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::uint64_t> numbers(const ChangePage& page) {
  std::vector<std::uint64_t> all;
  for (const ChangeRecord& record : page.changes)
    all.push_back(record.number);
  return all;
}

// PRX-17
TEST_P(StoreContract, KeepsUpstreamsAsTheyWerePut) {
  EXPECT_THAT(get(store().upstreams()), IsEmpty());
  UpstreamRecord odd = upstream("odd");
  odd.settings = std::string("{\"a\":\"\0\",\"b\":\"\xc3\xa9\"}", 18);
  odd.secrets.clear();
  get(store().put(upstream("bank")));
  get(store().put(odd));
  EXPECT_THAT(get(store().upstreams()), ElementsAre(upstream("bank"), odd));
}

// PRX-12
TEST_P(StoreContract, KeepsAnOverrideWithTheEntryItBelongsTo) {
  UpstreamRecord record = upstream("bank");
  record.origin = Origin::file_override;
  record.file_hash = "9f86d081884c7d65";
  get(store().put(record));
  EXPECT_THAT(get(store().upstreams()), ElementsAre(record));
}

TEST_P(StoreContract, KeepsTheOrderInWhichUpstreamsCame) {
  for (const auto* name : {"c", "a", "b"})
    get(store().put(upstream(name)));
  UpstreamRecord changed = upstream("c");
  changed.settings = "{}";
  get(store().put(changed));
  EXPECT_THAT(get(store().upstreams()), ElementsAre(changed, upstream("a"), upstream("b")));
  get(store().remove_upstream("c"));
  get(store().put(upstream("c")));
  EXPECT_THAT(get(store().upstreams()), ElementsAre(upstream("a"), upstream("b"), upstream("c")));
}

TEST_P(StoreContract, RemovesWhatIsThereAndDoesNotMindTheRest) {
  get(store().put(upstream("bank")));
  get(store().remove_upstream("other"));
  EXPECT_THAT(get(store().upstreams()), ElementsAre(upstream("bank")));
  get(store().remove_upstream("bank"));
  EXPECT_THAT(get(store().upstreams()), IsEmpty());
}

// REF-03
TEST_P(StoreContract, KeepsTheLastSnapshotOfEachKind) {
  const auto tools = snapshot("bank", "tools", R"([{"name":"pay"},{"name":"ask"}])");
  get(store().put(snapshot("zoo", "tools")));
  get(store().put(snapshot("bank", "tools", R"([{"name":"old"}])")));
  get(store().put(snapshot("bank", "prompts")));
  get(store().put(tools));
  EXPECT_THAT(get(store().snapshots()), ElementsAre(snapshot("bank", "prompts"), tools, snapshot("zoo", "tools")));
  EXPECT_THAT(get(store().snapshots_of("bank")), ElementsAre(snapshot("bank", "prompts"), tools));
  EXPECT_THAT(get(store().snapshots_of("ban")), IsEmpty());
  get(store().write({RemoveSnapshots{"bank"}}));
  EXPECT_THAT(get(store().snapshots()), ElementsAre(snapshot("zoo", "tools")));
}

TEST_P(StoreContract, NumbersChangesInTheirOrder) {
  EXPECT_EQ(get(store().append(change("a"))), 1U);
  EXPECT_EQ(get(store().append(change("b"))), 2U);
  EXPECT_THAT(get(store().write({AppendChange{change("c")}, AppendChange{change("d")}})).changes, ElementsAre(3, 4));
  const auto page = get(store().changes(1, 2));
  EXPECT_THAT(numbers(page), ElementsAre(2, 3));
  EXPECT_EQ(page.oldest, 1U);
  EXPECT_EQ(page.newest, 4U);
  ChangeRecord expected = change("b");
  expected.number = 2;
  EXPECT_EQ(page.changes.front(), expected);
  EXPECT_THAT(numbers(get(store().changes(4, 10))), IsEmpty());
  EXPECT_THAT(numbers(get(store().changes(UINT64_MAX, 10))), IsEmpty());
  EXPECT_THAT(numbers(get(store().changes(0, 0))), IsEmpty());
  EXPECT_THAT(numbers(get(store().changes(0, SIZE_MAX))), ElementsAre(1, 2, 3, 4));
}

TEST_P(StoreContract, KeepsTheNewestChangesAndSaysWhatIsMissing) {
  EXPECT_EQ(get(store().changes(0, 10)).oldest, 0U);
  EXPECT_EQ(get(store().changes(0, 10)).newest, 0U);
  for (int i = 0; i < 8; ++i)
    get(store().append(change("a")));
  const auto page = get(store().changes(0, 10));
  EXPECT_THAT(numbers(page), ElementsAre(4, 5, 6, 7, 8));
  EXPECT_EQ(page.oldest, 4U);
  EXPECT_EQ(page.newest, 8U);
}

// SEC-08
TEST_P(StoreContract, ListsTheNewestAuditsFirst) {
  for (const auto* what : {"a", "b", "c", "d", "e"})
    get(store().append(audit(what)));
  const auto newest = get(store().audits(2, std::nullopt));
  EXPECT_THAT(newest, ElementsAre(Field(&AuditRecord::what, "e"), Field(&AuditRecord::what, "d")));
  EXPECT_EQ(newest.front().who, "ops");
  EXPECT_EQ(newest.front().at, at(5));
  EXPECT_EQ(newest.front().detail, R"({"name":"bank"})");
  EXPECT_THAT(get(store().audits(10, newest.back().number)),
              ElementsAre(Field(&AuditRecord::what, "c"), Field(&AuditRecord::what, "b")));
}

TEST_P(StoreContract, EndsAPageBeforeItGetsTooLarge) {
  const std::string large(limits::kPage - 100, 'x');
  get(store().append(change("a", large)));
  get(store().append(change("b", large)));
  EXPECT_THAT(numbers(get(store().changes(0, 10))), ElementsAre(1));
  EXPECT_THAT(numbers(get(store().changes(1, 10))), ElementsAre(2));
}

TEST_P(StoreContract, RemembersSettings) {
  EXPECT_EQ(get(store().setting("a")), std::nullopt);
  get(store().put(Setting{"a", "1"}));
  get(store().put(Setting{"b", ""}));
  get(store().put(Setting{"a", "2"}));
  EXPECT_EQ(get(store().setting("a")), "2");
  EXPECT_EQ(get(store().setting("b")), "");
}

TEST_P(StoreContract, DoesAUnitOfWritesWholeOrNotAtAll) {
  get(store().write(
      {PutUpstream{upstream("bank")}, PutSnapshot{snapshot("bank", "tools")}, AppendAudit{audit("add")}}));
  EXPECT_THAT(get(store().upstreams()), ElementsAre(upstream("bank")));
  const auto refused =
      run(store().write({RemoveUpstream{"bank"}, AppendChange{change("bank")}, PutSetting{{"", "x"}}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::invalid);
  EXPECT_THAT(get(store().upstreams()), ElementsAre(upstream("bank")));
  EXPECT_EQ(get(store().changes(0, 10)).newest, 0U);
  EXPECT_TRUE(run(store().write({})));
}

TEST_P(StoreContract, RefusesWhatIsTooLargeOrHasNoName) {
  UpstreamRecord record = upstream("bank");
  record.settings.assign(limits::kText + 1, ' ');
  EXPECT_EQ(run(store().put(record)).error().kind(), ErrorKind::too_large);
  EXPECT_THAT(run(store().put(record)).error().message(), HasSubstr("the settings of an upstream"));
  EXPECT_EQ(run(store().put(upstream(""))).error().kind(), ErrorKind::invalid);
  EXPECT_EQ(run(store().put(snapshot("bank", ""))).error().kind(), ErrorKind::invalid);
  EXPECT_EQ(run(store().write(Writes(limits::kWrites + 1, RemoveUpstream{"a"}))).error().kind(), ErrorKind::too_large);
  EXPECT_THAT(get(store().upstreams()), IsEmpty());
}

TEST_P(StoreContract, DoesNotReplaceSecretsThatItCouldNotRead) {
  UpstreamRecord record = upstream("bank");
  record.secrets_fault = "another pepper";
  EXPECT_EQ(run(store().put(record)).error().kind(), ErrorKind::invalid);
}

TEST_P(StoreContract, ServesSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, thread] {
      Runner runner;
      for (int i = 0; i < 25; ++i) {
        runner.get(store().put(upstream(std::to_string(thread) + "-" + std::to_string(i))));
        runner.get(store().append(change("a")));
        runner.get(store().upstreams());
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(get(store().upstreams()).size(), 100U);
  EXPECT_EQ(get(store().changes(0, 10)).newest, 100U);
}

TEST_P(StoreContract, DoesTheWorkOfACallThatWasCancelled) {
  {
    proteus::test::Started<Result<>> call(runner_.io, store().put(upstream("bank")));
    proteus::test::settle(runner_.io);
    call.cancel();
    try {
      static_cast<void>(call.finish());
    } catch (const boost::system::system_error& cancelled) {
      EXPECT_EQ(cancelled.code(), boost::asio::error::operation_aborted);
    }
  }
  get(store().put(upstream("zoo")));
  EXPECT_THAT(get(store().upstreams()), ElementsAre(upstream("bank"), upstream("zoo")));
}

TEST_P(StoreContract, OutlivesTheContextOfACall) {
  for (int round = 0; round < 20; ++round) {
    auto io = std::make_unique<boost::asio::io_context>(1);
    auto call = std::make_unique<proteus::test::Started<Result<>>>(*io, store().put(upstream("bank")));
    proteus::test::settle(*io);
    io.reset();
  }
  get(store().put(upstream("zoo")));
}

TEST_P(StoreContract, IsHealthy) {
  get(store().put(upstream("bank")));
  EXPECT_FALSE(store().health().writing);
  EXPECT_FALSE(store().health().reading);
}

// PRX-17
TEST_P(DurableStoreContract, KeepsEverythingOverARestart) {
  get(store().write({PutUpstream{upstream("bank")}, PutSnapshot{snapshot("bank", "tools", "[1]")},
                     AppendChange{change("bank")}, AppendAudit{audit("add")}, PutSetting{{"a", "1"}}}));
  reopen();
  EXPECT_THAT(get(store().upstreams()), ElementsAre(upstream("bank")));
  EXPECT_THAT(get(store().snapshots()), ElementsAre(snapshot("bank", "tools", "[1]")));
  EXPECT_THAT(get(store().changes(0, 10)).changes, ElementsAre(Field(&ChangeRecord::upstream, "bank")));
  EXPECT_THAT(get(store().audits(10, std::nullopt)), ElementsAre(Field(&AuditRecord::what, "add")));
  EXPECT_EQ(get(store().setting("a")), "1");
}

TEST_P(DurableStoreContract, NeverGivesANumberTwice) {
  for (int i = 0; i < 7; ++i)
    get(store().append(change("a")));
  reopen();
  EXPECT_EQ(get(store().append(change("b"))), 8U);
  EXPECT_EQ(get(store().changes(0, 10)).oldest, 4U);
}

}  // namespace
}  // namespace proteus::store::test
