#include "store/sqlite/sqlite_store.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "store/private_file.hpp"
#include "store/sqlite/sqlite_migrations.hpp"
#include "store/sqlite/sqlite_statement.hpp"
#include "store/testing/sqlite_fixture.hpp"
#include "store/testing/store_contract.hpp"

namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class SqliteBed final : public StoreBed {
 public:
  explicit SqliteBed(Retention retention) : bench_({.file = {}, .retention = retention, .backlog = {}}) {
    bench_.reopen();
  }
  Store& store() override { return bench_.store(); }
  void reopen() override { bench_.reopen(); }

 private:
  SqliteFixture bench_;
};

const StoreMaker kSqlite{.name = "Sqlite",
                         .make = [](Retention retention) { return std::make_unique<SqliteBed>(retention); }};

class SqliteStoreTest : public testing::Test {
 protected:
  SqliteStoreTest() { bench_.reopen(); }

  // Posts writes while another program holds the lock, so that they wait together. The first may be committed alone.
  std::vector<Result<>> write_together(std::vector<UpstreamRecord> records) {
    auto other = bench_.other();
    EXPECT_TRUE(other.execute("BEGIN IMMEDIATE"));
    std::vector<std::unique_ptr<proteus::test::Started<Result<>>>> calls;
    for (auto& record : records) {
      calls.push_back(std::make_unique<proteus::test::Started<Result<>>>(runner_.io, store().put(std::move(record))));
      proteus::test::settle(runner_.io);
    }
    EXPECT_TRUE(other.execute("ROLLBACK"));
    std::vector<Result<>> results;
    for (auto& call : calls)
      results.push_back(call->finish());
    return results;
  }

  SqliteStore& store() { return bench_.store(); }

  Runner runner_;
  SqliteFixture bench_;
};

TEST_F(SqliteStoreTest, CommitsTogetherWhatWaitedTogether) {
  std::vector<UpstreamRecord> records;
  for (int i = 0; i < 50; ++i)
    records.push_back(upstream(std::to_string(i)));
  for (const auto& result : write_together(records))
    EXPECT_TRUE(result);
  EXPECT_EQ(store().counts().operations, 50U);
  EXPECT_LE(store().counts().commits, 2U);
  EXPECT_THAT(runner_.get(store().upstreams()), SizeIs(50));
}

TEST_F(SqliteStoreTest, FailsOneOfAGroupAlone) {
  ASSERT_TRUE(
      bench_.other().execute("CREATE TRIGGER no BEFORE INSERT ON upstreams WHEN NEW.name = 'bad'"
                             " BEGIN SELECT RAISE(ABORT, 'no'); END"));
  const auto results = write_together({upstream("a"), upstream("b"), upstream("bad"), upstream("c")});
  EXPECT_TRUE(results[0]);
  EXPECT_TRUE(results[1]);
  EXPECT_FALSE(results[2]);
  EXPECT_TRUE(results[3]);
  EXPECT_LE(store().counts().commits, 2U);
  EXPECT_THAT(runner_.get(store().upstreams()), ElementsAre(upstream("a"), upstream("b"), upstream("c")));
}

TEST_F(SqliteStoreTest, UndoesAllOfAUnitThatFailsHalfWay) {
  ASSERT_TRUE(
      bench_.other().execute("CREATE TRIGGER no BEFORE INSERT ON upstreams WHEN NEW.name = 'bad'"
                             " BEGIN SELECT RAISE(ABORT, 'no'); END"));
  EXPECT_FALSE(runner_.run(store().write({PutSetting{{"a", "1"}}, PutUpstream{upstream("bad")}})));
  EXPECT_EQ(runner_.get(store().setting("a")), std::nullopt);
}

TEST_F(SqliteStoreTest, DoesTheRestOfAGroupWhoseTransactionWasLost) {
  ASSERT_TRUE(
      bench_.other().execute("CREATE TRIGGER no BEFORE INSERT ON upstreams WHEN NEW.name = 'bad'"
                             " BEGIN SELECT RAISE(ROLLBACK, 'no'); END"));
  const auto results = write_together({upstream("a"), upstream("b"), upstream("bad"), upstream("c")});
  EXPECT_TRUE(results[0]);
  EXPECT_TRUE(results[1]);
  EXPECT_FALSE(results[2]);
  EXPECT_TRUE(results[3]);
  EXPECT_THAT(runner_.get(store().upstreams()), ElementsAre(upstream("a"), upstream("b"), upstream("c")));
}

TEST_F(SqliteStoreTest, FinishesWhatWasPostedBeforeItCloses) {
  std::vector<std::unique_ptr<proteus::test::Started<Result<>>>> calls;
  for (int i = 0; i < 20; ++i)
    calls.push_back(
        std::make_unique<proteus::test::Started<Result<>>>(runner_.io, store().put(upstream(std::to_string(i)))));
  proteus::test::settle(runner_.io);
  bench_.reopen();
  EXPECT_THAT(runner_.get(store().upstreams()), SizeIs(20));
  for (auto& call : calls)
    EXPECT_TRUE(call->finish());
}

TEST_F(SqliteStoreTest, RefusesMoreThanMayWait) {
  bench_.options().backlog = {.items = 2, .bytes = 1'000'000};
  bench_.reopen();
  auto other = bench_.other();
  ASSERT_TRUE(other.execute("BEGIN IMMEDIATE"));
  std::vector<std::unique_ptr<proteus::test::Started<Result<>>>> calls;
  for (int i = 0; i < 5; ++i) {
    calls.push_back(
        std::make_unique<proteus::test::Started<Result<>>>(runner_.io, store().put(upstream(std::to_string(i)))));
    proteus::test::settle(runner_.io);
  }
  ASSERT_TRUE(other.execute("ROLLBACK"));
  std::size_t refused = 0;
  for (auto& call : calls) {
    const auto result = call->finish();
    if (result) continue;
    ++refused;
    EXPECT_EQ(result.error().kind(), ErrorKind::exhausted);
  }
  EXPECT_GE(refused, 1U);
  EXPECT_THAT(runner_.get(store().upstreams()), SizeIs(5 - refused));
}

// OPS-07
TEST_F(SqliteStoreTest, KeepsItsFilesFromOtherUsers) {
  runner_.get(store().put(upstream("bank")));
  for (const auto* suffix : {"", "-wal", "-shm"}) {
    struct stat facts{};
    ASSERT_EQ(::stat((bench_.file().string() + suffix).c_str(), &facts), 0) << suffix;
    EXPECT_EQ(facts.st_mode & 0777U, 0600U) << suffix;
  }
}

// SEC-02
TEST_F(SqliteStoreTest, WritesNoSecretInPlainText) {
  UpstreamRecord record = upstream("bank");
  record.secrets = R"({"token":"swordfish-0123456789"})";
  runner_.get(store().put(record));
  const auto files = [this] {
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(bench_.file().parent_path()))
      all += bytes_of_file(entry.path());
    return all;
  };
  EXPECT_THAT(files(), HasSubstr("id-of-bank"));
  EXPECT_THAT(files(), Not(HasSubstr("swordfish")));
  bench_.close();
  EXPECT_THAT(files(), HasSubstr("id-of-bank"));
  EXPECT_THAT(files(), Not(HasSubstr("swordfish")));
}

// SEC-02
TEST_F(SqliteStoreTest, RefusesAnotherPepper) {
  runner_.get(store().put(upstream("bank")));
  const auto refused = bench_.open(Sealer(pepper("another")));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("another pepper"));
  EXPECT_THAT(refused.error().message(), HasSubstr(bench_.file().string()));
}

// SEC-09
TEST_F(SqliteStoreTest, ReadsWithThePreviousPepperAndSealsAnew) {
  runner_.get(store().put(upstream("bank")));
  const Sealer rotating(pepper("new"), pepper("pepper"));
  ASSERT_TRUE(bench_.open(rotating));
  EXPECT_THAT(runner_.get(store().upstreams()), ElementsAre(upstream("bank")));
  runner_.get(store().put(upstream("zoo")));
  EXPECT_EQ(runner_.get(store().reseal()), 1U);
  EXPECT_EQ(runner_.get(store().reseal()), 0U);
  ASSERT_TRUE(bench_.open(Sealer(pepper("new"))));
  EXPECT_THAT(runner_.get(store().upstreams()), ElementsAre(upstream("bank"), upstream("zoo")));
  EXPECT_FALSE(bench_.open(Sealer(pepper("pepper"))));
}

TEST_F(SqliteStoreTest, ReadsTheOthersWhereOneSecretIsDamaged) {
  runner_.get(store().put(upstream("bank")));
  runner_.get(store().put(upstream("zoo")));
  ASSERT_TRUE(
      bench_.other().execute("UPDATE upstreams SET secrets = (SELECT secrets FROM upstreams WHERE name = 'zoo')"
                             " WHERE name = 'bank'"));
  const auto records = runner_.get(store().upstreams());
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_THAT(records[0].secrets_fault, HasSubstr("the secrets of upstream bank"));
  EXPECT_THAT(records[0].secrets, IsEmpty());
  EXPECT_EQ(records[1], upstream("zoo"));
  EXPECT_FALSE(runner_.run(store().reseal()));
}

TEST_F(SqliteStoreTest, RefusesADatabaseOfANewerVersion) {
  ASSERT_TRUE(bench_.other().execute("PRAGMA user_version = 1000"));
  const auto refused = bench_.open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::unsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("newer version"));
  EXPECT_THAT(refused.error().message(), HasSubstr("1000"));
}

TEST_F(SqliteStoreTest, RefusesADatabaseOfAnotherProgram) {
  ASSERT_TRUE(bench_.other().execute("PRAGMA application_id = 7"));
  const auto refused = bench_.open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::conflict);
}

TEST_F(SqliteStoreTest, LeavesANewDatabaseAtTheNewestVersion) {
  auto other = bench_.other();
  auto query = other.query("PRAGMA user_version");
  ASSERT_TRUE(query.step());
  EXPECT_EQ(query.integer(0), schema_version());
}

// REP-03
TEST(SqliteMigration, GivesVersionsToWhatWasStoredBefore) {
  constexpr std::int64_t kWithoutVersions = 5;
  SqliteFixture fixture;
  ASSERT_TRUE(create_private(fixture.file()));
  {
    auto before = fixture.other();
    ASSERT_TRUE(migrate(before, kWithoutVersions));
    ASSERT_TRUE(
        before.execute("INSERT INTO upstreams (name, id, created_at, updated_at, settings, origin, file_hash)"
                       " VALUES ('bank', '1', 0, 0, '{}', 'runtime', '');"
                       "INSERT INTO settings VALUES ('a', '1');"
                       "INSERT INTO changes (at, upstream, kind, change) VALUES (0, 'bank', 'tools', '{}'), "
                       "(0, 'bank', 'tools', '{}'); DELETE FROM changes"));
  }
  fixture.reopen();
  Runner runner;
  EXPECT_EQ(runner.get(fixture.store().upstream("bank"))->stored.version, 1U);
  const RecordKey key{RecordKind::setting, "a", ""};
  EXPECT_FALSE(runner.run(fixture.store().write({Expect{key, 0}, PutSetting{{"a", "2"}}})));
  EXPECT_GT(runner.get(fixture.store().write({Expect{key, 1}, PutSetting{{"a", "2"}}})).versions.at(0), 1U);
  EXPECT_EQ(runner.get(fixture.store().append(change("bank"))), 3U);
}

TEST_F(SqliteStoreTest, LetsReadersGoOnBesideAWriter) {
  auto other = bench_.other();
  auto query = other.query("PRAGMA journal_mode");
  ASSERT_TRUE(query.step());
  EXPECT_EQ(query.text(0), "wal");
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreContract, testing::Values(kSqlite), name_of);
INSTANTIATE_TEST_SUITE_P(Sqlite, DurableStoreContract, testing::Values(kSqlite), name_of);

}  // namespace proteus::store::test
