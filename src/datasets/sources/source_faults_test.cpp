// Tests of sources that have faults.
#include <future>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/testing/test_run.hpp"
#include "base/unique_fd.hpp"
#include "datasets/sources/source_pool.hpp"
#include "datasets/sources/workup.hpp"
#include "datasets/testing/test_database.hpp"

namespace proteus::datasets {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

Patience patience(std::chrono::milliseconds time) { return Patience{.until = std::chrono::steady_clock::now() + time}; }

Result<Workup> ask(const std::string& dsn, std::string entity = "Ada Stone", std::chrono::milliseconds time = 5s) {
  const Patience given = patience(time);
  auto source = open_source(Secret(dsn), "public", given);
  if (!source) return std::unexpected(source.error());
  static const Plan plan(parse_mapping(test::kCompanyMapping).value().mapping, "");  // must outlive the workup
  return work_up(plan, **source, {.entity = std::move(entity), .type = "person"}, given);
}

// A server that accepts connections and never answers.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(socket_.get(), 8) != 0 ||
        ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("no socket");
    port_ = ntohs(address.sin_port);
  }
  std::string dsn() const { return fmt::format("postgres://user:hunter2@127.0.0.1:{}/db?sslmode=disable", port_); }
  void close() { socket_ = UniqueFd(); }

 private:
  UniqueFd socket_;
  std::uint16_t port_ = 0;
};

TEST(SourceFaults, AServerThatIsNotThereIsUnreachableAndNothingLeaks) {
  SilentServer server;
  server.close();
  const auto workup = ask(server.dsn());
  ASSERT_FALSE(workup);
  EXPECT_EQ(workup.error().kind(), ErrorKind::unreachable);
  EXPECT_THAT(workup.error().message(), Not(HasSubstr("hunter2")));
}

TEST(SourceFaults, AServerThatSaysNothingIsGivenUp) {
  const SilentServer server;
  const auto workup = ask(server.dsn(), "x", 200ms);
  ASSERT_FALSE(workup);
  EXPECT_EQ(workup.error().kind(), ErrorKind::timeout);
}

TEST(SourceFaults, AnAddressThatIsNoneIsNeverShown) {
  for (const char* dsn : {"mysql://root:hunter2@db/x", "sqlite:hunter2.db", "sqlite://hunter2/x", "", "hunter2",
                          "postgres://user:hunter2@host:port:5/db", "postgres://host/db?hunter2",
                          "sqlite:///hunter2%zz", "postgres://u@h:hunter2/d"}) {
    const auto opened = open_source(Secret(dsn), "public", patience(2s));
    ASSERT_FALSE(opened) << dsn;
    EXPECT_THAT(opened.error().message(), Not(HasSubstr("hunter2")));
  }
}

TEST(SourceFaults, AFileThatIsNoDatabaseIsSaidToBeNone) {
  const test::TemporaryDirectory folder;
  const auto file = folder.path() / "x.db";
  std::ofstream(file) << std::string(5000, 'x');
  const auto workup = ask("sqlite://" + file.string());
  ASSERT_FALSE(workup);
  EXPECT_EQ(workup.error().kind(), ErrorKind::unreachable);
  EXPECT_THAT(workup.error().message(), HasSubstr("not an SQLite database"));
  EXPECT_FALSE(ask("sqlite://" + folder.path().string()));
  EXPECT_FALSE(ask("sqlite:///nowhere/x.db"));
  EXPECT_FALSE(std::filesystem::exists("/nowhere"));
}

// DAT-17
TEST(SourceFaults, AReadOnlyFileIsReadAndNothingIsLeftBesideIt) {
  test::SqliteDatabase database;
  test::make_company(database);
  std::filesystem::permissions(database.file(), std::filesystem::perms::owner_read);
  EXPECT_TRUE(ask(database.dsn()));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(database.file().parent_path()))
    ++files;
  EXPECT_EQ(files, 1U);
}

TEST(SourceFaults, ALockIsWaitedForAndNotForEver) {
  test::SqliteDatabase database;
  test::make_company(database);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(database.file().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto locked = ask(database.dsn(), "Ada Stone", 200ms);
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().kind(), ErrorKind::timeout);
  auto waiting = std::async(std::launch::async, [&] { return ask(database.dsn(), "Ada Stone", 30s); });
  sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
  EXPECT_TRUE(waiting.get());
  sqlite3_close(other);
}

TEST(SourceFaults, BytesThatAreNoTextAreRepaired) {
  test::SqliteDatabase database;
  test::make_company(database);
  database.execute(
      "UPDATE employees SET title = CAST(x'4CFF4C' AS TEXT), name = CAST(x'C3' AS TEXT) || 'x' WHERE id = 3");
  const auto workup = ask(database.dsn(), "employees/3");
  ASSERT_TRUE(workup);
  EXPECT_EQ(to_text(workup->attributes[0].second), "L\xEF\xBF\xBDL");
  EXPECT_EQ(workup->gaps.front().kind, Gap::Kind::not_text);
}

// By default, SQLite takes a name in double quotes for a string if there is no such column.
TEST(SourceFaults, AColumnThatIsNotThereIsAnError) {
  test::SqliteDatabase database;
  test::make_company(database);
  Mapping mapping{.name = "x", .dsn_env = "X"};
  mapping.entities.push_back({.table = "employees", .type = "t", .id_column = "id", .attribute_columns = {"ghost"}});
  const auto source = open_source(Secret(database.dsn()), "public", {}).value().release();
  const std::unique_ptr<Source> owned(source);
  EXPECT_FALSE(work_up(Plan(mapping, ""), *owned, {.entity = "1"}, {}));
}

// DAT-17: not even a function that the owner of the database put into a view can write
TEST(SourceFaults, APostgresSessionCannotWrite) {
  if (!test::PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  test::PostgresDatabase database;
  database.execute(
      "CREATE TABLE log (id integer); CREATE FUNCTION note() RETURNS integer LANGUAGE sql VOLATILE AS "
      "'INSERT INTO log VALUES (1) RETURNING id'; CREATE VIEW sly AS SELECT note() AS id, 'x' AS name");
  Mapping mapping{.name = "sly", .dsn_env = "X"};
  mapping.entities.push_back({.table = "sly", .type = "t", .id_column = "id", .name_column = "name"});
  const auto source = std::move(open_source(Secret(database.dsn()), "public", {}).value());
  const Plan plan(mapping, "");
  const auto workup = work_up(plan, *source, {.entity = "1"}, {});
  ASSERT_FALSE(workup);
  EXPECT_THAT(workup.error().message(), HasSubstr("read-only transaction"));
  EXPECT_EQ(database.query("SELECT count(*) FROM log").front(), "0");
}

TEST(SourceFaults, AColumnThatGotAnotherTypeIsReadOverTheNextConnection) {
  if (!test::PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  test::PostgresDatabase database;
  database.execute("CREATE TABLE things (id integer PRIMARY KEY, name text); INSERT INTO things VALUES (1, 'x')");
  Mapping mapping{.name = "things", .dsn_env = "X"};
  mapping.entities.push_back({.table = "things", .type = "t", .id_column = "id", .name_column = "name"});
  const Plan plan(mapping, "");
  boost::asio::io_context io{1};
  const auto pool = std::make_shared<SourcePool>(Secret(database.dsn()), "public", SourcePoolOptions{.connections = 1});
  const std::function<Result<int>(Source&, const Patience&)> work = [&](Source& source,
                                                                        const Patience& given) -> Result<int> {
    const auto workup = work_up(plan, source, {.entity = "1"}, given);
    if (!workup) return std::unexpected(workup.error());
    return static_cast<int>(workup->status);
  };
  const auto look = [&] {
    return proteus::test::run(io, SourcePool::run<int>(pool, work, std::make_shared<std::atomic<bool>>(false)));
  };
  const int found = static_cast<int>(WorkupStatus::found);
  EXPECT_EQ(look().value(), found);
  database.execute("ALTER TABLE things ALTER COLUMN id TYPE text");
  EXPECT_EQ(look().error().kind(), ErrorKind::invalid);
  EXPECT_EQ(look().value(), found);
}

// DAT-17, OPS-02
TEST(SourceFaults, AServerThatStopsAnsweringIsGivenUpInTime) {
  if (!test::PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  test::PostgresDatabase database;
  test::make_company(database);
  const Plan plan(parse_mapping(test::kCompanyMapping).value().mapping, "");
  const auto source = std::move(open_source(Secret(database.dsn()), "public", patience(30s)).value());
  ASSERT_TRUE(work_up(plan, *source, {.entity = "Ada Stone", .type = "person"}, patience(30s)));
  std::future<Result<Workup>> workup;
  {
    const test::PostgresDatabase::Still still(database);
    workup = std::async(std::launch::async, [&] {
      return work_up(plan, *source, {.entity = "Ada Stone", .type = "person"}, patience(100ms));
    });
    EXPECT_EQ(workup.wait_for(20s), std::future_status::ready);
  }
  const auto outcome = workup.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind(), ErrorKind::timeout);
  EXPECT_FALSE(source->is_usable());
}

TEST(SourceFaults, AStatementThatIsGivenUpEndsAtTheServerToo) {
  if (!test::PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  test::PostgresDatabase database;
  database.execute("CREATE VIEW slow AS SELECT 1 AS id, pg_sleep(600)::text AS name");
  Mapping mapping{.name = "slow", .dsn_env = "X"};
  mapping.entities.push_back({.table = "slow", .type = "t", .id_column = "id", .name_column = "name"});
  const Plan plan(mapping, "");
  const auto given_up = std::make_shared<std::atomic<bool>>(false);
  const Patience given{.until = std::chrono::steady_clock::now() + 600s, .given_up = given_up};
  const auto source = std::move(open_source(Secret(database.dsn()), "public", given).value());
  auto workup = std::async(std::launch::async, [&] { return work_up(plan, *source, {.entity = "1"}, given); });
  const auto is_at_work = [&] {
    return !database
                .query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'proteus' AND wait_event = 'PgSleep'")
                .empty();
  };
  const auto wait_until = [&](bool wanted) {
    const auto end = std::chrono::steady_clock::now() + proteus::test::kPatience;
    while (is_at_work() != wanted && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    return is_at_work() == wanted;
  };
  EXPECT_TRUE(wait_until(true));
  given_up->store(true);
  EXPECT_EQ(workup.get().error().kind(), ErrorKind::cancelled);
  EXPECT_TRUE(wait_until(false));
}

class PoolTest : public testing::Test {
 protected:
  using Work = std::function<Result<int>(Source&, const Patience&)>;

  void SetUp() override { test::make_company(database); }
  std::shared_ptr<SourcePool> pool(SourcePoolOptions options) {
    return std::make_shared<SourcePool>(Secret(database.dsn()), "public", options);
  }
  static SourcePool::GivenUp flag() { return std::make_shared<std::atomic<bool>>(false); }

  test::SqliteDatabase database;
  boost::asio::io_context io{1};
};

TEST_F(PoolTest, ConnectionsAreOpenedWithTheFirstWorkAndKept) {
  const auto shared = pool({.connections = 1});
  EXPECT_EQ(shared->open(), 0U);
  for (int i = 0; i < 3; ++i) {
    const Work work = [i](Source&, const Patience&) -> Result<int> { return i; };
    EXPECT_EQ(proteus::test::run(io, SourcePool::run<int>(shared, work, flag())).value(), i);
  }
  EXPECT_EQ(shared->open(), 1U);
}

TEST_F(PoolTest, WorkThatThrowsLeavesNothingBehind) {
  const auto shared = pool({.connections = 1});
  const Work throws = [](Source& source, const Patience& given) -> Result<int> {
    if (!source.begin(given)) return 0;
    throw std::runtime_error("a bug");
  };
  EXPECT_EQ(proteus::test::run(io, SourcePool::run<int>(shared, throws, flag())).error().kind(), ErrorKind::internal);
  const Work begins = [](Source& source, const Patience& given) -> Result<int> {
    const auto begun = source.begin(given);
    source.end();
    return begun ? Result<int>(1) : std::unexpected(begun.error());
  };
  EXPECT_EQ(proteus::test::run(io, SourcePool::run<int>(shared, begins, flag())).value_or(0), 1);
}

TEST_F(PoolTest, WorkThatIsGivenUpEnds) {
  const auto shared = pool({.connections = 1});
  std::promise<void> begun;
  const Work work = [&begun](Source&, const Patience& given) -> Result<int> {
    begun.set_value();
    while (!given.is_over())
      std::this_thread::yield();
    return std::unexpected(given.error());
  };
  const auto given_up = flag();
  proteus::test::Started<Result<int>> started(io, SourcePool::run<int>(shared, work, given_up));
  proteus::test::settle(io);
  begun.get_future().wait();
  given_up->store(true);
  EXPECT_EQ(started.finish().error().kind(), ErrorKind::cancelled);
}

// DAT-17: agents connect and disconnect datasets while the calls of others go on.
TEST_F(PoolTest, WhoeverLetsGoOfOneThatIsStuckDoesNotWait) {
  std::promise<void> begun;
  std::promise<void> over;
  BackgroundThreads ends(1);
  auto shared = SourcePool::make(ends, Secret(database.dsn()), "public", {.connections = 1});
  const Work work = [&](Source&, const Patience&) -> Result<int> {
    begun.set_value();
    over.get_future().wait();
    return 0;
  };
  proteus::test::Started<Result<int>> started(io, SourcePool::run<int>(shared, work, flag()));
  proteus::test::settle(io);
  begun.get_future().wait();
  started.cancel();
  EXPECT_ANY_THROW(started.finish());
  shared.reset();
  over.set_value();
}

TEST_F(PoolTest, ACancelledCoroutineGivesItsWorkUp) {
  auto shared = pool({.connections = 1});
  std::promise<void> begun;
  std::atomic<bool> ended = false;
  const Work work = [&](Source&, const Patience& given) -> Result<int> {
    begun.set_value();
    while (!given.is_over())
      std::this_thread::yield();
    ended = true;
    return 0;
  };
  proteus::test::Started<Result<int>> started(io, SourcePool::run<int>(shared, work, flag()));
  proteus::test::settle(io);
  begun.get_future().wait();
  started.cancel();
  EXPECT_ANY_THROW(started.finish());
  shared.reset();
  EXPECT_TRUE(ended);
}

TEST_F(PoolTest, MoreThanMayWaitAreTurnedAway) {
  auto shared = pool({.connections = 1, .waiting = 1});
  std::promise<void> begun;
  std::promise<void> go;
  const auto gate = go.get_future().share();
  const Work blocks = [&begun, gate](Source&, const Patience&) -> Result<int> {
    begun.set_value();
    gate.wait();
    return 1;
  };
  const Work quick = [](Source&, const Patience&) -> Result<int> { return 2; };
  proteus::test::Started<Result<int>> first(io, SourcePool::run<int>(shared, blocks, flag()));
  proteus::test::settle(io);
  begun.get_future().wait();
  proteus::test::Started<Result<int>> second(io, SourcePool::run<int>(shared, quick, flag()));
  proteus::test::Started<Result<int>> third(io, SourcePool::run<int>(shared, quick, flag()));
  EXPECT_EQ(third.finish().error().kind(), ErrorKind::exhausted);
  go.set_value();
  EXPECT_EQ(first.finish().value(), 1);
  EXPECT_EQ(second.finish().value(), 2);
}

TEST_F(PoolTest, WhoeverWaitsIsToldInTimeThoughEveryThreadIsStuck) {
  auto shared = pool({.connections = 1, .waiting = 1, .patience = 400ms, .slack = 1ms});
  std::promise<void> begun;
  std::promise<void> go;
  const auto gate = go.get_future().share();
  const Work stuck = [&begun, gate](Source&, const Patience&) -> Result<int> {
    begun.set_value();
    gate.wait();
    return 1;
  };
  const Work quick = [](Source&, const Patience&) -> Result<int> { return 2; };
  proteus::test::Started<Result<int>> first(io, SourcePool::run<int>(shared, stuck, flag()));
  proteus::test::settle(io);
  begun.get_future().wait();
  for (int i = 0; i < 3; ++i)  // each takes the only place from the one before
    EXPECT_EQ(proteus::test::run(io, SourcePool::run<int>(shared, quick, flag())).error().kind(), ErrorKind::timeout);
  EXPECT_EQ(first.finish().error().kind(), ErrorKind::timeout);
  go.set_value();
}

TEST_F(PoolTest, IdleConnectionsAreClosed) {
  const auto shared = pool({.idle = 1ms});
  const Work work = [](Source&, const Patience&) -> Result<int> { return 1; };
  EXPECT_TRUE(proteus::test::run(io, SourcePool::run<int>(shared, work, flag())));
  const auto end = std::chrono::steady_clock::now() + proteus::test::kPatience;
  while (shared->open() != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  EXPECT_EQ(shared->open(), 0U);
  EXPECT_TRUE(proteus::test::run(io, SourcePool::run<int>(shared, work, flag())));
}

}  // namespace
}  // namespace proteus::datasets
