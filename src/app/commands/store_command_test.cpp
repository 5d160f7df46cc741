// `proteus store copy`, in process: what it prints and how it ends.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/commands/command.hpp"
#include "store/testing/postgres_server.hpp"
#include "store/testing/sqlite_fixture.hpp"

namespace proteus::app {
namespace {

using store::test::PostgresServer;
using ::testing::HasSubstr;

struct CopyOutcome {
  ExitCode code;
  std::string out;
  std::string err;
};

CopyOutcome store_copy(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"store", "copy"});
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const ExitCode code = run(std::move(arguments));
  return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

class StoreCommand : public ::testing::Test {
 protected:
  StoreCommand() { ::setenv("PROTEUS_PEPPER", "pepper", 1); }
  ~StoreCommand() override {
    ::unsetenv("PROTEUS_PEPPER");
    ::unsetenv("PROTEUS_STORE");
  }
};

// REP-08
TEST_F(StoreCommand, MovesADataDirectoryIntoPostgreSqlAndBack) {
  if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresServer server;
  ::setenv("PROTEUS_STORE", server.dsn().c_str(), 1);
  store::test::Runner runner;
  store::test::SqliteFixture embedded;
  embedded.reopen();
  runner.get(embedded.store().put(store::test::upstream("bank")));
  embedded.close();
  const std::string data = embedded.file().parent_path().string();

  const auto there = store_copy({"--data", data});
  EXPECT_EQ(there.code, ExitCode::done) << there.err;
  EXPECT_THAT(there.out, HasSubstr("upstreams 1\nsnapshots 0\n"));
  const auto twice = store_copy({"--data", data});
  EXPECT_EQ(twice.code, ExitCode::problems);
  EXPECT_THAT(twice.err, HasSubstr("has upstreams already"));

  const store::test::TemporaryDirectory other;
  const auto back = store_copy({"--back", "--data", (other.path() / "data").string()});
  EXPECT_EQ(back.code, ExitCode::done) << back.err;
  auto opened = store::SqliteStore::open({.file = other.path() / "data" / "proteus.db", .retention = {}, .backlog = {}},
                                         store::Sealer(store::test::pepper("pepper")));
  ASSERT_TRUE(opened);
  EXPECT_EQ(runner.get((*opened)->upstream("bank")), store::test::upstream("bank"));
}

TEST_F(StoreCommand, CopiesBackOnceTheRightPepperIsGiven) {
  if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresServer server;
  ::setenv("PROTEUS_STORE", server.dsn().c_str(), 1);
  store::test::SqliteFixture embedded;
  embedded.reopen();
  embedded.close();
  const auto there = store_copy({"--data", embedded.file().parent_path().string()});
  EXPECT_EQ(there.code, ExitCode::done) << there.err;

  const store::test::TemporaryDirectory other;
  const std::vector<std::string> back = {"--back", "--data", (other.path() / "data").string()};
  ::unsetenv("PROTEUS_PEPPER");
  EXPECT_THAT(store_copy(back).err, HasSubstr("PROTEUS_PEPPER"));
  ::setenv("PROTEUS_PEPPER", "another", 1);
  EXPECT_THAT(store_copy(back).err, HasSubstr("another pepper"));
  ::setenv("PROTEUS_PEPPER", "pepper", 1);
  const auto right = store_copy(back);
  EXPECT_EQ(right.code, ExitCode::done) << right.err;
}

TEST_F(StoreCommand, NeedsToKnowTheDatabase) {
  const store::test::TemporaryDirectory directory;
  const auto outcome = store_copy({"--data", directory.path().string()});
  EXPECT_EQ(outcome.code, ExitCode::usage);
  EXPECT_THAT(outcome.err, HasSubstr("PROTEUS_STORE must name the database"));
}

}  // namespace
}  // namespace proteus::app
