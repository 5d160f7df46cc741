#include "store/postgres/postgres_store.hpp"

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "store/postgres/postgres_migrations.hpp"
#include "store/testing/postgres_fixture.hpp"
#include "store/testing/store_contract.hpp"

namespace proteus::store::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class PostgresBed final : public StoreBed {
 public:
  explicit PostgresBed(Retention retention) {
    bench_.options().retention = retention;
    reopen();
  }
  Store& store() override { return *store_; }
  Store& other() override { return *other_; }
  void reopen() override {
    store_.reset();
    other_.reset();
    store_ = bench_.open();
    other_ = bench_.open();
  }

 private:
  PostgresFixture bench_;
  std::unique_ptr<PostgresStore> store_;
  std::unique_ptr<PostgresStore> other_;
};

std::vector<StoreMaker> postgres() {
  if (!PostgresServer::is_installed()) return {};
  return {{.name = "Postgres", .make = [](Retention retention) { return std::make_unique<PostgresBed>(retention); }}};
}

class PostgresStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
    bench_ = std::make_unique<PostgresFixture>();
    store_ = bench_->open();
    // Connections of tests may stay idle within a transaction.
    bench_->options().idle_timeout = std::chrono::milliseconds(0);
  }

  // Posts writes while another connection has the turn, so that they wait together. The first may be committed alone.
  std::vector<Result<Written>> write_together(std::vector<Writes> units) {
    using Call = proteus::test::Started<Result<Written>>;
    auto turn = bench_->connect();
    EXPECT_TRUE(turn->begin_writing());
    std::vector<std::unique_ptr<Call>> calls;
    for (auto& unit : units) {
      calls.push_back(std::make_unique<Call>(runner_.io, store_->write(std::move(unit))));
      proteus::test::settle(runner_.io);
    }
    EXPECT_TRUE(turn->end_writing(sql::Ending::roll_back));
    std::vector<Result<Written>> results;
    for (auto& call : calls)
      results.push_back(call->finish());
    return results;
  }

  Runner runner_;
  std::unique_ptr<PostgresFixture> bench_;
  std::unique_ptr<PostgresStore> store_;
};

TEST_F(PostgresStoreTest, CommitsTogetherWhatWaitedTogether) {
  std::vector<Writes> units;
  for (int i = 0; i < 50; ++i)
    units.push_back({PutUpstream{upstream(std::to_string(i))}});
  for (const auto& result : write_together(std::move(units)))
    EXPECT_TRUE(result);
  EXPECT_EQ(store_->counts().operations, 50U);
  EXPECT_LE(store_->counts().commits, 2U);
  EXPECT_THAT(runner_.get(store_->upstreams()), SizeIs(50));
}

TEST_F(PostgresStoreTest, FailsThoseOfAGroupAloneThatCannotBeDone) {
  bench_->query("ALTER TABLE proteus.upstreams ADD CHECK (name <> 'bad')");
  const RecordKey missing{RecordKind::upstream, "missing", ""};
  const auto results = write_together({{PutUpstream{upstream("a")}},
                                       {PutUpstream{upstream("b")}, Expect{missing, 5}},
                                       {PutUpstream{upstream("c")}},
                                       {AppendChange{change("bad")}, PutUpstream{upstream("bad")}},
                                       {PutSnapshot{snapshot("d", "tools"), Fence{"x", 1}}},
                                       {PutUpstream{upstream("e")}}});
  EXPECT_TRUE(results[0]);
  EXPECT_EQ(results[1].error().kind(), ErrorKind::conflict);
  EXPECT_TRUE(results[2]);
  EXPECT_EQ(results[3].error().kind(), ErrorKind::internal);
  EXPECT_EQ(results[4].error().kind(), ErrorKind::conflict);
  EXPECT_TRUE(results[5]);
  EXPECT_THAT(runner_.get(store_->upstreams()), ElementsAre(upstream("a"), upstream("c"), upstream("e")));
  EXPECT_EQ(runner_.get(store_->changes(0, 10)).newest, 0U);
}

// REP-02: a follower sees every entry once and in order, however many processes write.
TEST_F(PostgresStoreTest, FeedsTheWritesOfManyInTheOrderOfTheirCommits) {
  constexpr int kStores = 3;
  constexpr int kWriters = 4;
  constexpr int kWrites = 40;
  std::vector<std::unique_ptr<PostgresStore>> stores;
  for (int i = 0; i < kStores; ++i)
    stores.push_back(bench_->open());
  const std::uint64_t start = runner_.get(store_->feed(0, 1)).newest;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kStores * kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      Runner runner;
      for (int i = 0; i < kWrites; ++i) {
        const std::string name = std::to_string(writer);
        runner.get(stores[static_cast<std::size_t>(writer % kStores)]->write(
            {PutSetting{{name, std::to_string(i)}}, PutUpstream{upstream(name + "." + std::to_string(i))}}));
      }
    });
  }
  constexpr std::uint64_t kAll = std::uint64_t{kStores} * kWriters * kWrites * 2;
  std::map<std::string, int> seen;
  std::uint64_t at = start;
  while (at < start + kAll && !HasFailure()) {
    for (const FeedEntry& entry : runner_.get(store_->feed(at, 50)).entries) {
      EXPECT_EQ(entry.number, at + 1) << "an entry was committed after a later one";
      at = entry.number;
      if (entry.key.kind != RecordKind::upstream) continue;
      const auto dot = entry.key.name.find('.');
      EXPECT_EQ(std::stoi(entry.key.name.substr(dot + 1)), seen[entry.key.name.substr(0, dot)]++);
      // The record that an entry names can be read.
      EXPECT_TRUE(runner_.get(store_->upstream(entry.key.name)));
    }
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(runner_.get(store_->feed(at, 50)).newest, start + kAll);
}

// REP-02
TEST_F(PostgresStoreTest, HearsOfOthersByNotificationAndByLooking) {
  std::atomic<int> told = 0;
  const auto heard = [&](int before) {
    const auto end = std::chrono::steady_clock::now() + proteus::test::kPatience;
    while (told <= before && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    return told > before;
  };
  bench_->options().look_interval = std::chrono::hours(1);
  {
    const auto notified = bench_->open();
    notified->on_feed([&] { ++told; });
    runner_.get(store_->put(upstream("bank")));
    // This call may have come from the first look.
    ASSERT_TRUE(heard(0));
    const int before = told;
    runner_.get(store_->put(upstream("bank")));
    EXPECT_TRUE(heard(before));
    notified->on_feed({});
  }
  bench_->options().look_interval = std::chrono::milliseconds(5);
  const auto looking = bench_->open();
  looking->on_feed([&] { ++told; });
  const int before = told;
  bench_->query("UPDATE proteus.counters SET value = value + 1 WHERE name = 'feed'");
  EXPECT_TRUE(heard(before));
}

// REP-04: no process waits for ever for one that stalls in the middle of a write.
TEST_F(PostgresStoreTest, TakesTheTurnFromAProcessThatStandsStill) {
  bench_->options().idle_timeout = std::chrono::milliseconds(50);
  auto stopped = bench_->connect();
  ASSERT_TRUE(stopped->begin_writing());
  EXPECT_TRUE(runner_.run(store_->put(upstream("bank"))));
  EXPECT_FALSE(stopped->end_writing(sql::Ending::commit));
}

TEST_F(PostgresStoreTest, SaysThatItsTurnDoesNotCome) {
  bench_->options().turn_timeout = std::chrono::milliseconds(50);
  const auto waiting = bench_->open();
  auto turn = bench_->connect();
  ASSERT_TRUE(turn->begin_writing());
  const auto refused = runner_.run(waiting->put(upstream("bank")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::exhausted);
  EXPECT_EQ(waiting->health().writing->fault, Fault::busy);
  ASSERT_TRUE(turn->end_writing(sql::Ending::roll_back));
  EXPECT_TRUE(runner_.run(waiting->put(upstream("bank"))));
  EXPECT_FALSE(waiting->health().writing);
}

TEST_F(PostgresStoreTest, HasNoSecretAtRest) {
  runner_.get(store_->write({PutUpstream{upstream("bank")}, PutToken{token("t"), {"the hash of a token"}},
                             PutToolSession{session("s"), {"another hash"}}, PutSessionTool{tool("s", "x")}}));
  std::string all;
  for (const auto& table : {"upstreams", "tokens", "token_hashes", "tool_sessions", "session_tools"}) {
    for (const auto& row : bench_->query(
             std::string("SELECT encode(convert_to(t::text, 'UTF8'), 'escape') FROM proteus.") + table + " t"))
      all += row;
  }
  // PostgreSQL shows `bytea` in hexadecimal.
  const auto hex = [](std::string_view text) {
    std::string digits;
    for (const char c : text)
      digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return digits;
  };
  EXPECT_THAT(all, HasSubstr(hex("id-of-bank")));
  for (const auto* secret : {"of bank", "hash of t", "of s\"", "http://127.0.0.1/\"", "the hash of a token"})
    EXPECT_THAT(all, Not(HasSubstr(hex(secret)))) << secret;
}

TEST_F(PostgresStoreTest, SealsAnewWithAnotherPepper) {
  runner_.get(store_->write({PutUpstream{upstream("bank")}, PutToken{token("t"), {"h"}}}));
  store_.reset();
  const auto refused = bench_->try_open("another pepper");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("another pepper"));
  const Pepper next = Pepper::given("another pepper").value();
  {
    auto both = PostgresStore::open(bench_->options(), Sealer(next, Pepper::given("pepper").value())).value();
    EXPECT_FALSE(runner_.run(both->write({PutToken{token("u"), {"h"}}})));
    EXPECT_EQ(runner_.get(both->reseal()), 3U);
  }
  auto opened = PostgresStore::open(bench_->options(), Sealer(next)).value();
  EXPECT_EQ(runner_.get(opened->upstream("bank")), upstream("bank"));
  EXPECT_EQ(runner_.run(opened->write({PutToken{token("u"), {"h"}}})).error().kind(), ErrorKind::conflict);
}

// REP-07
TEST_F(PostgresStoreTest, LetsAnOlderVersionOnUntilTheSchemaIsContracted) {
  const auto connection = bench_->connect();
  const auto nothing = [] { return Result<>(); };
  std::vector<PostgresStep> steps(postgres_steps().begin(), postgres_steps().end());
  const auto known = static_cast<std::int64_t>(steps.size());
  steps.push_back({"ALTER TABLE settings ADD COLUMN note bytea", steps.back().oldest_reader, "0.1.0"});
  ASSERT_TRUE(migrate(*connection, steps, nothing));
  ASSERT_TRUE(migrate(*connection, steps, nothing));
  runner_.get(store_->put(Setting{"a", "1"}));
  EXPECT_EQ(runner_.get(bench_->open()->setting("a")), "1");
  steps.push_back({"ALTER TABLE settings DROP COLUMN note", known + 1, "9.1"});
  ASSERT_TRUE(migrate(*connection, steps, nothing));
  const auto refused = bench_->try_open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::unsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("from version 9.1 on"));
}

// REP-07
TEST_F(PostgresStoreTest, LeavesTheSchemaAsItWasWhenAStepFails) {
  const auto connection = bench_->connect();
  std::vector<PostgresStep> steps(postgres_steps().begin(), postgres_steps().end());
  steps.push_back({"CREATE TABLE half (a int); SELECT no_such_function()", 1, "0.1.0"});
  EXPECT_FALSE(migrate(*connection, steps, [] { return Result<>(); }));
  EXPECT_THAT(bench_->query("SELECT to_regclass('proteus.half') IS NULL"), ElementsAre("t"));
  EXPECT_TRUE(bench_->try_open());
}

// REP-07
TEST_F(PostgresStoreTest, IsMigratedByOneOfThoseThatStartAtOnce) {
  PostgresFixture fresh;
  std::vector<std::thread> threads;
  std::atomic<int> opened = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      if (fresh.try_open()) ++opened;
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(opened, 4);
}

TEST_F(PostgresStoreTest, NamesNoSecretOfItsAddress) {
  for (const auto* url : {"postgresql://ada:hunter2@127.0.0.1:1/db", "postgresql://ada:hunter2@[/db"}) {
    PostgresOptions options;
    options.url = Secret(url);
    const auto refused = PostgresStore::open(options, Sealer(Pepper::given("pepper").value()));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), Not(HasSubstr("hunter2")));
  }
}

TEST(PostgresFault, IsToldByTheCode) {
  EXPECT_EQ(fault_of("53100"), Fault::full);
  EXPECT_EQ(fault_of("25006"), Fault::read_only);
  EXPECT_EQ(fault_of("0A000"), Fault::read_only);
  EXPECT_EQ(fault_of("55P03"), Fault::busy);
  EXPECT_EQ(fault_of("57P01"), Fault::unavailable);
  EXPECT_EQ(fault_of("XX001"), Fault::corrupt);
  EXPECT_EQ(fault_of("23505"), std::nullopt);
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Postgres, StoreContract, testing::ValuesIn(postgres()), name_of);
INSTANTIATE_TEST_SUITE_P(Postgres, DurableStoreContract, testing::ValuesIn(postgres()), name_of);

}  // namespace proteus::store::test
