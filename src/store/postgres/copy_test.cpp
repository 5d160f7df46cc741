#include "store/sql/copy.hpp"

#include <gmock/gmock.h>

#include "store/testing/postgres_fixture.hpp"
#include "store/testing/sqlite_fixture.hpp"

namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void fill(Runner& runner, Store& store) {
  const PinRecord pin{.upstream = "bank", .kind = "tools", .name = "p", .hash = "1", .definition = "{}", .by = "ada"};
  const SealedRecord grant{.kind = "grant", .id = "g", .text = "{}", .updated_at = at(1), .fault = {}};
  UpstreamRecord plain = upstream("a");
  plain.secrets.clear();
  runner.get(store.write({PutUpstream{upstream("bank")}, PutUpstream{plain}, PutSnapshot{snapshot("bank", "tools")},
                          AppendChange{change("bank")}, AppendAudit{audit("add")}, PutSetting{{"k", "v"}}, PutPin{pin},
                          PutToolSession{session("s"), {"h1"}}, PutSessionTool{tool("s", "x")},
                          PutToken{token("t"), {"h2"}}, PutSealed{grant}}));
}

// Returns all that a store has, with versions, as text.
std::string everything(Runner& runner, Store& store) {
  std::string all;
  for (const auto& one : runner.get(store.upstreams()))
    all += fmt::format("{} {} {};", one.name, one.secrets, one.stored.version);
  for (const auto& one : runner.get(store.snapshots()))
    all += fmt::format("{} {} {};", one.upstream, one.entries, one.stored.version);
  for (const auto& one : runner.get(store.changes(0, 10)).changes)
    all += fmt::format("{} {};", one.number, one.change);
  for (const auto& one : runner.get(store.audits(10, std::nullopt)))
    all += fmt::format("{} {};", one.number, one.what);
  for (const auto& one : runner.get(store.settings("")))
    all += fmt::format("{} {} {};", one.key, one.value, one.stored.version);
  for (const auto& one : runner.get(store.pins_of("bank")))
    all += fmt::format("{} {} {};", one.name, one.by, one.stored.version);
  for (const auto& one : runner.get(store.tool_sessions()))
    all += fmt::format("{} {} {};", one.id, one.secrets, one.stored.version);
  for (const auto& one : runner.get(store.session_tools()))
    all += fmt::format("{} {} {};", one.name, one.secrets, one.stored.version);
  for (const auto& one : runner.get(store.tokens()))
    all += fmt::format("{} {} {};", one.name, one.secrets, one.stored.version);
  for (const auto& one : runner.get(store.sealed("grant")))
    all += fmt::format("{} {} {};", one.id, one.text, one.stored.version);
  return all;
}

// REP-08
TEST(StoreCopy, MovesEverythingToPostgreSqlAndBack) {
  if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  Runner runner;
  SqliteFixture embedded;
  embedded.reopen();
  fill(runner, embedded.store());
  const std::string before = everything(runner, embedded.store());

  PostgresFixture shared;
  const auto store = shared.open();
  auto from = embedded.other();
  const auto to = shared.connect();
  const auto copied = sql::copy(from, *to);
  ASSERT_TRUE(copied) << copied.error().message();
  std::vector<std::string> counts;
  for (const auto& table : *copied)
    counts.push_back(fmt::format("{} {}", table.name, table.rows));
  EXPECT_THAT(counts,
              ElementsAre("upstreams 2", "snapshots 1", "changes 1", "audits 1", "settings 1", "pins 1",
                          "tool_sessions 1", "session_tools 1", "tokens 1", "sealed_records 1", "token_hashes 2"));
  EXPECT_EQ(everything(runner, *store), before);
  // Numbers are not given twice, and a token still belongs to its owner.
  EXPECT_EQ(runner.get(store->append(change("bank"))), 2U);
  EXPECT_EQ(runner.run(store->write({PutToken{token("u"), {"h1"}}})).error().kind(), ErrorKind::conflict);

  SqliteFixture back;
  back.reopen();
  auto into = back.other();
  ASSERT_TRUE(sql::copy(*to, into));
  EXPECT_EQ(everything(runner, back.store()), everything(runner, *store));
}

// REP-08: numbers that the database gave in an earlier life are not given again.
TEST(StoreCopy, GoesIntoADatabaseThatWasUsedAndEmptied) {
  if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  Runner runner;
  SqliteFixture embedded;
  embedded.reopen();
  fill(runner, embedded.store());
  PostgresFixture shared;
  {
    const auto earlier = shared.open();
    for (int i = 0; i < 100; ++i)
      runner.get(earlier->put(upstream("old")));
    runner.get(earlier->write({RemoveUpstream{"old"}}));
  }
  auto from = embedded.other();
  const auto to = shared.connect();
  const auto copied = sql::copy(from, *to);
  ASSERT_TRUE(copied) << copied.error().message();
  const auto store = shared.open();
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(runner.run(store->put(upstream("new")))) << i;
}

// REP-08
TEST(StoreCopy, LeavesADatabaseAloneThatHasRecords) {
  if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  Runner runner;
  SqliteFixture embedded;
  embedded.reopen();
  fill(runner, embedded.store());
  PostgresFixture shared;
  const auto store = shared.open();
  runner.get(store->write({PutToken{token("t")}}));
  auto from = embedded.other();
  const auto to = shared.connect();
  const auto refused = sql::copy(from, *to);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::conflict);
  EXPECT_THAT(refused.error().message(), HasSubstr("has tokens already"));
  EXPECT_THAT(runner.get(store->upstreams()), testing::IsEmpty());
  EXPECT_TRUE(runner.run(store->put(upstream("bank"))));
}

}  // namespace
}  // namespace proteus::store::test
