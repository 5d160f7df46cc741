#include <atomic>
#include <random>
#include <set>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gmock/gmock.h>

#include "store/testing/postgres_fixture.hpp"

// A server that dies, and connections that break: no acknowledged write is lost, and nothing happens twice.
namespace proteus::store::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// The outcomes of registrations by several threads.
struct Ledger {
  std::mutex mutex;
  std::set<std::string> acknowledged;
  std::set<std::string> unsure;
};

class PostgresFaultTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  }

  // Registers upstreams until `stop`. A refused registration was not stored, and is retried.
  static void register_on(PostgresStore& store, const std::string& prefix, Ledger& ledger,
                          const std::atomic<bool>& stop) {
    Runner runner;
    for (int i = 0; !stop;) {
      const std::string name = prefix + "-" + std::to_string(i);
      const auto written =
          runner.run(store.write({PutUpstream{upstream(name)}, AppendChange{change(name)}, AppendAudit{audit(name)}}));
      const bool unsure = !written && written.error().kind() == ErrorKind::interrupted;
      if (!written && !unsure) {
        std::this_thread::yield();
        continue;
      }
      ++i;
      const std::lock_guard lock(ledger.mutex);
      (unsure ? ledger.unsure : ledger.acknowledged).insert(name);
    }
  }

  static std::size_t acknowledged(Ledger& ledger) {
    const std::lock_guard lock(ledger.mutex);
    return ledger.acknowledged.size();
  }
  static void wait_for(Ledger& ledger, std::size_t more) {
    const std::size_t enough = acknowledged(ledger) + more;
    const auto end = std::chrono::steady_clock::now() + proteus::test::kPatience;
    while (acknowledged(ledger) < enough && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    ASSERT_GE(acknowledged(ledger), enough);
  }

  // Checks that the store agrees with the ledger, and has each unit once and whole.
  void check(PostgresStore& store, const Ledger& ledger) {
    std::multiset<std::string> stored;
    for (const auto& record : runner_.get(store.upstreams()))
      stored.insert(record.name);
    std::multiset<std::string> changed;
    for (std::uint64_t since = 0;;) {
      const auto page = runner_.get(store.changes(since, 1000));
      if (page.changes.empty()) break;
      for (const auto& record : page.changes)
        changed.insert(record.upstream);
      EXPECT_EQ(page.changes.front().number, since + 1);
      since = page.changes.back().number;
    }
    EXPECT_EQ(stored, changed);
    for (const auto& name : ledger.acknowledged)
      EXPECT_TRUE(stored.contains(name)) << name << " was acknowledged, and is lost";
    for (const auto& name : stored)
      EXPECT_TRUE(ledger.acknowledged.contains(name) || ledger.unsure.contains(name)) << name << " was refused";
  }

  Runner runner_;
};

// REP-06
TEST_F(PostgresFaultTest, LosesNothingThatItAcknowledgedWhenTheServerIsKilled) {
  PostgresServer server;
  PostgresFixture fixture(server);
  const auto one = fixture.open();
  const auto two = fixture.open();
  Ledger ledger;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] { register_on(i % 2 == 0 ? *one : *two, std::to_string(i), ledger, stop); });
  }
  for (int round = 0; round < 3 && !HasFailure(); ++round) {
    wait_for(ledger, 50);
    server.stop(SIGKILL);
    server.start();
  }
  wait_for(ledger, 50);
  stop = true;
  for (auto& thread : threads)
    thread.join();
  check(*one, ledger);
}

// REP-06
TEST_F(PostgresFaultTest, GoesOnWhenConnectionsAreClosed) {
  PostgresFixture fixture;
  const auto store = fixture.open();
  Ledger ledger;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { register_on(*store, std::to_string(i), ledger, stop); });
  std::mt19937 random(20261117);
  for (int round = 0; round < 40 && !HasFailure(); ++round) {
    wait_for(ledger, random() % 5);
    fixture.close_connections();
  }
  wait_for(ledger, 20);
  stop = true;
  for (auto& thread : threads)
    thread.join();
  check(*store, ledger);
  // Each write was retried on another connection, and the outcome of each commit could be found out.
  EXPECT_THAT(ledger.unsure, IsEmpty());
  EXPECT_TRUE(runner_.run(store->upstreams()));
}

// REP-06: a server that was replaced as the primary comes back as a standby. A pooler in front of it keeps connections.
TEST_F(PostgresFaultTest, WaitsForAPrimary) {
  PostgresServer server;
  for (const char* attributes : {"", "&target_session_attrs=any"}) {
    PostgresFixture fixture(server);
    fixture.options().url = Secret(fixture.options().url.reveal() + attributes);
    const auto store = fixture.open();
    runner_.get(store->put(upstream("bank")));
    server.stop(SIGINT);
    server.become_standby();
    server.start();
    EXPECT_FALSE(runner_.run(store->put(upstream("zoo")))) << attributes;
    EXPECT_TRUE(store->health().writing) << attributes;
    server.query("SELECT pg_promote()");
    const auto end = std::chrono::steady_clock::now() + proteus::test::kPatience;
    while (!runner_.run(store->put(upstream("zoo"))) && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    EXPECT_TRUE(runner_.run(store->put(upstream("zoo")))) << attributes;
    EXPECT_FALSE(store->health().writing) << attributes;
  }
}

// REP-06: the machine of a primary lost its power, so nothing refuses a connection to it.
TEST_F(PostgresFaultTest, TriesTheNextHostWhenOneIsSilent) {
  using boost::asio::ip::tcp;
  boost::asio::io_context io;
  const tcp::acceptor silent(io, {boost::asio::ip::address_v4::loopback(), 0});
  PostgresFixture fixture(shared_server(), {.connect_timeout = std::chrono::seconds(2)});
  std::string url = fixture.options().url.reveal();
  url.replace(url.find("?host="), 6, fmt::format("?port={},&host=127.0.0.1,", silent.local_endpoint().port()));
  fixture.options().url = Secret(url);
  const auto store = fixture.open();
  runner_.get(store->put(upstream("bank")));
  EXPECT_THAT(runner_.get(store->upstreams()), testing::SizeIs(1));
}

// REP-06
TEST_F(PostgresFaultTest, SaysWhatIsWrongWithEachHost) {
  PostgresOptions options{.url = Secret("postgresql://none@127.0.0.1:1,127.0.0.1:2/none")};
  const auto refused = PostgresConnection::open(options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), AllOf(HasSubstr("127.0.0.1:1/none"), HasSubstr("127.0.0.1:2/none")));
  options.url = Secret("postgresql://none@/none?host=a,b&port=1,2,3");
  EXPECT_THAT(PostgresConnection::open(options).error().message(), HasSubstr("not a usable PostgreSQL URL"));
}

// REP-06
TEST_F(PostgresFaultTest, SaysThatTheServerIsAwayAndHeals) {
  PostgresServer server;
  PostgresFixture fixture(server);
  const auto store = fixture.open();
  runner_.get(store->put(upstream("bank")));
  server.stop(SIGQUIT);
  const auto refused = runner_.run(store->put(upstream("zoo")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::exhausted);
  EXPECT_THAT(refused.error().message(), HasSubstr("cannot be reached"));
  EXPECT_EQ(store->health().writing->fault, Fault::unavailable);
  EXPECT_FALSE(runner_.run(store->upstreams()));
  EXPECT_EQ(store->health().reading->fault, Fault::unavailable);
  std::atomic<int> told = 0;
  store->on_feed([&] { ++told; });
  server.start();
  const auto end = std::chrono::steady_clock::now() + proteus::test::kPatience;
  const auto until = [&](auto done) {
    while (!done() && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    return std::chrono::steady_clock::now() < end;
  };
  EXPECT_TRUE(until([&] { return runner_.run(store->put(upstream("zoo"))).has_value(); }));
  EXPECT_TRUE(until([&] { return runner_.run(store->upstreams()).has_value(); }));
  EXPECT_TRUE(until([&] { return told > 0; }));
  EXPECT_FALSE(store->health().writing);
  EXPECT_FALSE(store->health().reading);
  EXPECT_THAT(runner_.get(store->upstreams()), testing::SizeIs(2));
}

}  // namespace
}  // namespace proteus::store::test
