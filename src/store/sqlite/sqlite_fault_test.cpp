#include <array>
#include <cerrno>
#include <fstream>

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "store/sqlite/sqlite_statement.hpp"
#include "store/testing/sqlite_fixture.hpp"

// A store that meets a full disk, a lock or a damaged file reports it, still reads what it can, and loses nothing that
// it acknowledged.
namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SqliteFaultTest : public testing::Test {
 protected:
  SqliteFaultTest() { bench_.options().busy_timeout = std::chrono::milliseconds(0); }

  SqliteStore& store() { return bench_.store(); }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& record : runner_.get(store().upstreams()))
      all.push_back(record.name);
    return all;
  }
  void overwrite(std::uint64_t from, std::uint64_t size) {
    std::fstream file(bench_.file(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(from));
    file << std::string(size, '\xa5');
  }

  Runner runner_;
  SqliteFixture bench_;
};

// OPS-08
TEST_F(SqliteFaultTest, KeepsWhatItAcknowledgedWhenTheDiskIsFull) {
  bench_.options().max_pages = 40;
  bench_.reopen();
  std::vector<std::string> acknowledged;
  std::optional<Error> full;
  for (int i = 0; i < 1000 && !full; ++i) {
    UpstreamRecord record = upstream(std::to_string(i));
    record.settings.assign(3000, 'x');
    const auto put = runner_.run(store().put(record));
    if (put) acknowledged.push_back(record.name);
    if (!put) full = put.error();
  }
  ASSERT_TRUE(full);
  EXPECT_EQ(full->kind(), ErrorKind::exhausted);
  EXPECT_THAT(full->message(), HasSubstr("the disk is full"));
  ASSERT_TRUE(store().health().writing);
  EXPECT_EQ(store().health().writing->fault, Fault::full);
  EXPECT_FALSE(store().health().reading);
  EXPECT_GT(acknowledged.size(), 10U);
  EXPECT_EQ(names(), acknowledged);

  runner_.get(store().remove_upstream("0"));
  EXPECT_FALSE(store().health().writing);
  acknowledged.erase(acknowledged.begin());
  bench_.options().max_pages = 0;
  bench_.reopen();
  EXPECT_EQ(names(), acknowledged);
  EXPECT_TRUE(runner_.run(store().put(upstream("more"))));
}

// OPS-08
TEST_F(SqliteFaultTest, RefusesOnlyWhatTheDiskHasNoRoomFor) {
  bench_.options().max_pages = 60;
  bench_.options().busy_timeout = std::chrono::milliseconds(60'000);
  bench_.reopen();
  auto other = bench_.other();
  ASSERT_TRUE(other.execute("BEGIN IMMEDIATE"));
  using Call = proteus::test::Started<Result<>>;
  UpstreamRecord large = upstream("large");
  large.settings.assign(500'000, 'x');
  Call first(runner_.io, store().put(upstream("first")));
  Call second(runner_.io, store().put(upstream("second")));
  Call third(runner_.io, store().put(large));
  Call fourth(runner_.io, store().put(upstream("fourth")));
  proteus::test::settle(runner_.io);
  ASSERT_TRUE(other.execute("ROLLBACK"));
  EXPECT_TRUE(first.finish());
  EXPECT_TRUE(second.finish());
  EXPECT_FALSE(third.finish());
  EXPECT_TRUE(fourth.finish());
  EXPECT_THAT(names(), ElementsAre("first", "second", "fourth"));
}

// OPS-08
TEST_F(SqliteFaultTest, ReadsOnWhileAnotherProgramHasItLocked) {
  bench_.reopen();
  runner_.get(store().put(upstream("bank")));
  auto other = bench_.other();
  ASSERT_TRUE(other.execute("BEGIN IMMEDIATE"));
  const auto refused = runner_.run(store().put(upstream("zoo")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::exhausted);
  EXPECT_THAT(refused.error().message(), HasSubstr("is locked by another program"));
  EXPECT_EQ(store().health().writing->fault, Fault::busy);
  EXPECT_THAT(names(), ElementsAre("bank"));
  ASSERT_TRUE(other.execute("ROLLBACK"));
  runner_.get(store().put(upstream("zoo")));
  EXPECT_FALSE(store().health().writing);
  EXPECT_THAT(names(), ElementsAre("bank", "zoo"));
}

// OPS-08
TEST_F(SqliteFaultTest, ReadsWhatIsSoundInADamagedFile) {
  bench_.reopen();
  runner_.get(store().put(snapshot("bank", "tools", '[' + std::string(60'000, ' ') + ']')));
  runner_.get(store().put(Setting{"a", "1"}));
  std::uint64_t page = 0;
  {
    auto other = bench_.other();
    auto query = other.query("SELECT rootpage FROM sqlite_schema WHERE name = 'snapshots'");
    ASSERT_TRUE(query.step());
    page = static_cast<std::uint64_t>(query.integer(0));
  }
  bench_.close();
  overwrite((page - 1) * 4096, 4096);
  bench_.reopen();
  const auto damaged = runner_.run(store().snapshots());
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().kind(), ErrorKind::internal);
  EXPECT_THAT(damaged.error().message(), HasSubstr(bench_.file().string() + " is damaged"));
  EXPECT_EQ(store().health().reading->fault, Fault::corrupt);
  EXPECT_EQ(runner_.get(store().setting("a")), "1");
  EXPECT_TRUE(runner_.run(store().put(upstream("bank"))));
  EXPECT_THAT(names(), ElementsAre("bank"));
  EXPECT_EQ(store().health().reading->fault, Fault::corrupt);
  EXPECT_FALSE(store().health().writing);
}

// OPS-08
TEST_F(SqliteFaultTest, RefusesAFileThatIsNoDatabase) {
  bench_.reopen();
  bench_.close();
  overwrite(0, 4096);
  const auto refused = bench_.open();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr(bench_.file().string() + " is damaged; restore it from a copy"));
}

TEST_F(SqliteFaultTest, SaysThatADatabaseIsReadOnly) {
  bench_.reopen();
  auto connection = SqliteConnection::open(bench_.file(), SqliteAccess::read_only, std::chrono::milliseconds(0));
  ASSERT_TRUE(connection);
  const auto refused = connection->execute("DELETE FROM settings");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("it is read-only"));
  EXPECT_EQ(connection->take_trouble()->fault, Fault::read_only);
}

TEST_F(SqliteFaultTest, SaysThatADirectoryIsMissing) {
  bench_.options().file = bench_.file().parent_path() / "missing" / "proteus.db";
  const auto refused = bench_.open();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("No such file"));
}

TEST(SqliteFault, IsToldByWhatTheDatabaseAndTheSystemSaid) {
  EXPECT_EQ(fault_of(SQLITE_FULL, 0), Fault::full);
  EXPECT_EQ(fault_of(SQLITE_IOERR_WRITE, ENOSPC), Fault::full);
  EXPECT_EQ(fault_of(SQLITE_IOERR_WRITE, EDQUOT), Fault::full);
  EXPECT_EQ(fault_of(SQLITE_IOERR_FSYNC, EIO), Fault::unavailable);
  EXPECT_EQ(fault_of(SQLITE_BUSY_SNAPSHOT, 0), Fault::busy);
  EXPECT_EQ(fault_of(SQLITE_CORRUPT_INDEX, 0), Fault::corrupt);
  EXPECT_EQ(fault_of(SQLITE_NOTADB, 0), Fault::corrupt);
  EXPECT_EQ(fault_of(SQLITE_READONLY_DBMOVED, 0), Fault::read_only);
  EXPECT_EQ(fault_of(SQLITE_CANTOPEN, 0), Fault::unavailable);
  EXPECT_EQ(fault_of(SQLITE_CONSTRAINT_UNIQUE, 0), std::nullopt);
}

}  // namespace
}  // namespace proteus::store::test
