#include "live/redis_session_records.hpp"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "live/redis_event_store.hpp"
#include "live/session_upkeep.hpp"
#include "live/testing/connected.hpp"

namespace proteus::live {
namespace {

using live::test::Connected;
using redis::test::RedisServer;
using redis::test::shared_server;
using server::SessionRecord;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const ProcessKey kOne = process_key_of("one");
const ProcessKey kTwo = process_key_of("two");

SessionRecord full(SessionRecord::Holder holder) {
  return {.holder = std::move(holder),
          .log_level = mcp::LogLevel::warning,
          .client_info = R"({"name":"agent"})",
          .subscriptions = {"file:///a", "file:///b"},
          .state = R"({"bank":{"id":"x"}})"};
}

// Runs a SessionUpkeep, and reads its mark in Redis.
class Watch {
 public:
  explicit Watch(SessionUpkeep& upkeep, boost::asio::io_context& io, const RedisServer& server)
      : upkeep_(upkeep), io_(io), server_(server) {
    upkeep_.start();
    wait_until_kept();
  }
  ~Watch() { proteus::test::run(io_, upkeep_.stop()); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void wait_until_kept() const {
    proteus::test::run_until(io_, [&] { return server_.command({"GET", LiveKeys::process(kOne)}).text == "kept"; });
  }

 private:
  SessionUpkeep& upkeep_;
  boost::asio::io_context& io_;
  const RedisServer& server_;
};

class RedisRecords : public testing::Test {
 protected:
  std::optional<SessionRecord> read(RedisSessionRecords& from, const std::string& id) {
    return proteus::test::run(io, from.read(id)).value();
  }

  boost::asio::io_context io;
  RedisServer& server = shared_server();
  Connected here{server};
  RedisSessionRecords records{here.client, LiveKeys("pepper"), {}};
};

// REP-10
TEST_F(RedisRecords, KeepWhatAnotherProcessNeeds) {
  records.put("id", full({kOne, 1}));
  EXPECT_EQ(read(records, "id"), full({kOne, 1}));
  EXPECT_EQ(read(records, "other"), std::nullopt);

  SessionRecord bound = full({kOne, 1});
  bound.state.reset();
  records.put("id", bound);
  EXPECT_EQ(read(records, "id"), bound);
  records.remove("id", {kOne, 1});
  EXPECT_EQ(read(records, "id"), std::nullopt);
}

// REP-10, REP-12
TEST_F(RedisRecords, LetOneOfTwoTakeASession) {
  records.put("id", full({kOne, 1}));
  EXPECT_TRUE(proteus::test::run(io, records.replace("id", {kOne, 1}, full({kTwo, 2}))).value());
  EXPECT_FALSE(proteus::test::run(io, records.replace("id", {kOne, 1}, full({process_key_of("three"), 2}))).value());
  EXPECT_EQ(read(records, "id")->holder, (SessionRecord::Holder{kTwo, 2}));
  EXPECT_FALSE(proteus::test::run(io, records.replace("gone", {kOne, 1}, full({kTwo, 2}))).value());
}

// REP-14
TEST_F(RedisRecords, SayThatNobodyHasASessionThatWasHandedOver) {
  records.put("id", full({kOne, 3}));
  records.release("id", full({kTwo, 3}));
  EXPECT_EQ(read(records, "id"), full({kOne, 3})) << "it was not the other's";
  records.release("id", full({kOne, 3}));
  EXPECT_EQ(read(records, "id"), full({nobody(), 3}));
  records.put("id", full({kOne, 3}));
  EXPECT_FALSE(proteus::test::run(io, records.hold("id", full({kOne, 3}))).value());
  EXPECT_TRUE(proteus::test::run(io, records.replace("id", {nobody(), 3}, full({kTwo, 4}))).value());
  records.release("gone", full({kOne, 1}));
  EXPECT_EQ(read(records, "gone"), std::nullopt);
}

// REP-12
TEST_F(RedisRecords, CannotBeWrittenByWhoHasLostTheSession) {
  records.put("id", full({kTwo, 2}));
  records.put("id", full({kOne, 1}));
  EXPECT_FALSE(proteus::test::run(io, records.hold("id", full({kOne, 1}))).value());
  records.remove("id", {kOne, 1});
  records.remove("id", {kTwo, 1});
  EXPECT_EQ(read(records, "id"), full({kTwo, 2}));
  EXPECT_TRUE(proteus::test::run(io, records.hold("id", full({kTwo, 2}))).value());
}

// REP-12: a Redis that lost the later holder's record may get the earlier holder's one first.
TEST_F(RedisRecords, AreTheLaterHoldersWhereTwoWriteThem) {
  records.put("id", full({kOne, 9}));
  EXPECT_TRUE(proteus::test::run(io, records.hold("id", full({kTwo, 10}))).value());
  EXPECT_FALSE(proteus::test::run(io, records.hold("id", full({kOne, 9}))).value());
  EXPECT_FALSE(proteus::test::run(io, records.hold("id", full({kOne, 10}))).value()) << "there was one before";
  EXPECT_EQ(read(records, "id"), full({kTwo, 10}));
}

// REP-15
TEST_F(RedisRecords, CannotBeReadOrMadeByWhoeverIsAtRedis) {
  records.put("the id", full({kOne, 1}));
  records.put("another id", full({kTwo, 1}));
  here.flush();
  const auto keys = server.keys();
  ASSERT_THAT(keys, SizeIs(2));
  const LiveKeys names("pepper");
  const std::string one = names.session("the id");
  const std::string other = names.session("another id");
  const std::string text = server.command({"GET", one}).text;
  EXPECT_THAT(text, Not(HasSubstr("agent")));
  EXPECT_THAT(text, Not(HasSubstr("file:///")));
  EXPECT_THAT(one, Not(HasSubstr("the id")));

  // Moved, changed at the beginning or the end, cut off, or of another type.
  server.command({"SET", other, text});
  EXPECT_EQ(read(records, "another id"), std::nullopt);
  std::string changed = text;
  changed[15] = '7';
  server.command({"SET", one, changed});
  EXPECT_EQ(read(records, "the id"), std::nullopt);
  changed = text;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  server.command({"SET", one, changed});
  EXPECT_EQ(read(records, "the id"), std::nullopt);
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{27}, text.size() - 1}) {
    server.command({"SET", one, text.substr(0, size)});
    EXPECT_EQ(read(records, "the id"), std::nullopt);
  }
  server.command({"DEL", one});
  server.command({"RPUSH", one, "x"});
  EXPECT_FALSE(proteus::test::run(io, records.read("the id")));
}

TEST_F(RedisRecords, Expire) {
  RedisSessionRecords brief(here.client, LiveKeys("pepper"), {.expiry = std::chrono::milliseconds(50'000)});
  brief.put("id", full({kOne, 1}));
  here.flush();
  const auto left = server.command({"PTTL", server.keys().at(0)}).number;
  EXPECT_GT(left, 0);
  EXPECT_LE(left, 50'000);
}

TEST_F(RedisRecords, ThatAreTooLongAreOfSessionsThatEndWithTheirProcess) {
  RedisSessionRecords small(here.client, LiveKeys("pepper"), {.bytes = 1'000});
  SessionRecord record = full({kOne, 1});
  record.subscriptions.assign(100, "file:///long");
  small.put("id", record);
  EXPECT_EQ(read(small, "id")->state, std::nullopt);
}

// docs/cluster.md lists the rights.
TEST_F(RedisRecords, NeedNoMoreRightsThanAreDocumented) {
  const RedisServer own;
  std::ifstream file(PROTEUS_SOURCE_DIR "/docs/cluster.md");
  std::vector<std::string> words;
  for (std::string line; words.empty() && std::getline(file, line);) {
    if (!line.starts_with("ACL SETUSER proteus ")) continue;
    std::istringstream text(line);
    for (std::string word; text >> word;)
      words.push_back(word == ">PASSWORD" ? ">word" : word);
  }
  ASSERT_FALSE(words.empty());
  ASSERT_FALSE(own.command({words.begin(), words.end()}).is_error());
  Connected there(own, "proteus:word@");
  RedisSessionRecords kept(there.client, LiveKeys("pepper"), {});
  kept.put("id", full({kOne, 1}));
  EXPECT_TRUE(proteus::test::run(io, kept.replace("id", {kOne, 1}, full({kTwo, 2}))).value());
  EXPECT_EQ(read(kept, "id"), full({kTwo, 2}));
  kept.remove("id", {kTwo, 2});
  RedisEventStore store(there.client, LiveKeys("pepper"), {.limits = {.events_per_stream = 1}});
  store.begin({"s", 1}, "1");
  store.append({"s", 1}, 1, "x");
  store.append({"s", 1}, 2, "x");
  EXPECT_TRUE(proteus::test::run(io, store.read_left({"s", 1})).value());
  store.forget({"s", 1});
  there.flush();
  EXPECT_THAT(own.keys(), IsEmpty());
  ManualClock clock;
  server::Listeners listeners;
  server::MemoryEventStore events;
  server::Sessions none(clock, listeners, events, {});
  SessionUpkeep upkeep(io, none, there.client, kOne, {.tick = std::chrono::milliseconds(1)});
  const Watch watch(upkeep, io, own);
  own.command({"FLUSHALL"});
  watch.wait_until_kept();
  EXPECT_EQ(there.client.figures().failed, 0U);
}

class Upkeep : public RedisRecords {
 protected:
  explicit Upkeep() { sessions.emplace(clock, listeners, events, server::Sessions::Limits{}, &ids, &records); }
  // Delays the answers to writes until `go_on`.
  void pause() const { server.command({"CLIENT", "PAUSE", "10000", "WRITE"}); }
  void go_on() const { server.command({"CLIENT", "UNPAUSE"}); }

  std::shared_ptr<server::Session> make() {
    return sessions->create({.caller = {}, .client_info = R"({"name":"agent"})"}).value();
  }

  ManualClock clock;
  server::Listeners listeners;
  server::MemoryEventStore events;
  server::SessionIds ids{SealingKey::derive("pepper", "session ids"), kOne};
  std::optional<server::Sessions> sessions;
  SessionUpkeep upkeep{io, *sessions, here.client, kOne, {}};
};

// REP-13
TEST_F(Upkeep, WritesAgainWhatARedisHasLost) {
  const auto session = make();
  session->set_log_level(mcp::LogLevel::error);
  EXPECT_EQ(read(records, session->id().value())->log_level, mcp::LogLevel::error);
  server.command({"FLUSHALL"});
  EXPECT_TRUE(proteus::test::run(io, upkeep.look()));
  const auto record = read(records, session->id().value()).value();
  EXPECT_EQ(record.log_level, mcp::LogLevel::error);
  EXPECT_EQ(record.client_info, R"({"name":"agent"})");
  EXPECT_EQ(sessions->size(), 1U);
}

// REP-13: a process that stalls or dies soon after that still leaves its sessions to the others.
TEST_F(Upkeep, NoticesThatARedisWasEmptiedThoughItsConnectionStayed) {
  SessionUpkeep watchful(io, *sessions, here.client, kOne, {.tick = std::chrono::milliseconds(1)});
  const Watch watch(watchful, io, server);
  const std::string id = make()->id().value();
  here.flush();
  const std::uint64_t connection = here.client.connection();
  for (int i = 0; i < 3; ++i) {
    server.command({"FLUSHALL"});
    watch.wait_until_kept();
    EXPECT_TRUE(read(records, id));
  }
  // Streams are copied again, too.
  EXPECT_NE(here.client.connection(), connection);
}

// REP-13
TEST_F(Upkeep, DoesNotTakeARedisThatRefusesARecordForOneThatWasEmptied) {
  SessionUpkeep often(io, *sessions, here.client, kOne,
                      {.every = std::chrono::milliseconds(1), .tick = std::chrono::milliseconds(1)});
  const Watch watch(often, io, server);
  const auto session = make();
  here.flush();
  const std::uint64_t connection = here.client.connection();
  const std::uint64_t failed = here.client.figures().failed;
  server.command({"ACL", "SETUSER", "default", "-eval"});
  proteus::test::run_until(io, [&] { return here.client.figures().failed >= failed + 3; });
  server.command({"ACL", "SETUSER", "default", "+eval"});
  watch.wait_until_kept();
  EXPECT_EQ(here.client.connection(), connection);
}

// REP-13
TEST_F(Upkeep, NoticesThatARedisWasEmptiedWhileItWroteThere) {
  const auto session = make();
  here.flush();
  pause();
  proteus::test::Started<bool> looking(io, upkeep.look());
  proteus::test::settle(io);
  go_on();
  here.flush();
  EXPECT_EQ(server.command({"GET", LiveKeys::process(kOne)}).text, "looking");
  server.command({"FLUSHALL"});
  EXPECT_TRUE(looking.finish());
  EXPECT_NE(server.command({"GET", LiveKeys::process(kOne)}).text, "kept");
}

// REP-12
TEST_F(Upkeep, EndsASessionThatAnotherProcessHas) {
  const auto lost = make();
  const auto kept = make();
  const std::string id = lost->id().value();
  EXPECT_TRUE(proteus::test::run(io, records.replace(id, {kOne, 1}, full({kTwo, 2}))).value());
  EXPECT_TRUE(proteus::test::run(io, upkeep.look()));
  EXPECT_EQ(sessions->find(id, {}), nullptr);
  EXPECT_EQ(sessions->find(kept->id().value(), {}), kept);
  EXPECT_EQ(read(records, id)->holder, (SessionRecord::Holder{kTwo, 2}));
}

// REP-12: a check of the lost session must not end the session that was taken back.
TEST_F(Upkeep, KeepsASessionThatWasTakenBackMeanwhile) {
  const auto before = make();
  const std::string id = before->id().value();
  EXPECT_TRUE(proteus::test::run(io, records.replace(id, {kOne, 1}, full({kTwo, 2}))).value());
  pause();
  proteus::test::Started<Result<bool>> asked(io, sessions->make_sure(before));
  proteus::test::settle(io);
  sessions->remove(id, {});
  const auto after = sessions->adopt(id, {.caller = {}}, full({kOne, 3})).value();
  go_on();
  EXPECT_FALSE(asked.finish().value()) << "this one is not here any more";
  EXPECT_EQ(sessions->find(id, {}), after);
  EXPECT_TRUE(proteus::test::run(io, sessions->make_sure(after)).value());
  EXPECT_EQ(read(records, id)->holder, (SessionRecord::Holder{kOne, 3}));
}

// Calls `happen` just before a record is held.
class Meanwhile : public server::SessionRecords {
 public:
  explicit Meanwhile(SessionRecords& records) : records_(records) {}
  void put(const std::string& id, const SessionRecord& record) override { records_.put(id, record); }
  void remove(const std::string& id, const SessionRecord::Holder& holder) override { records_.remove(id, holder); }
  void release(const std::string& id, const SessionRecord& record) override { records_.release(id, record); }
  Task<Result<bool>> hold(std::string id, SessionRecord record) override {
    happen();
    return records_.hold(std::move(id), std::move(record));
  }
  Task<Result<std::optional<SessionRecord>>> read(std::string id) override { return records_.read(std::move(id)); }
  Task<Result<bool>> replace(std::string id, SessionRecord::Holder before, SessionRecord next) override {
    return records_.replace(std::move(id), std::move(before), std::move(next));
  }
  std::function<void()> happen = [] {};

 private:
  SessionRecords& records_;
};

// REP-10
TEST_F(Upkeep, KeepsWhatChangedWhileItAsked) {
  Meanwhile meanwhile(records);
  server::Sessions changing(clock, listeners, events, server::Sessions::Limits{}, &ids, &meanwhile);
  const auto session = changing.create({.caller = {}}).value();
  meanwhile.happen = [&] { session->set_log_level(mcp::LogLevel::error); };
  EXPECT_TRUE(proteus::test::run(io, changing.make_sure(session)).value());
  EXPECT_EQ(read(records, session->id().value())->log_level, mcp::LogLevel::error);
}

// REP-14
TEST_F(Upkeep, LeavesTheRecordOfASessionThatIsLeftToOthersMeanwhile) {
  const auto session = make();
  pause();
  proteus::test::Started<Result<bool>> asked(io, sessions->make_sure(session));
  proteus::test::settle(io);
  sessions->close_all();
  go_on();
  EXPECT_FALSE(asked.finish().value());
  EXPECT_EQ(read(records, session->id().value())->holder, (SessionRecord::Holder{kOne, 1}));
}

// REP-12
TEST_F(Upkeep, LooksWhenOthersMayHaveTakenThisProcessForDead) {
  bool doubt = false;
  SessionUpkeep watchful(io, *sessions, here.client, kOne,
                         {.tick = std::chrono::milliseconds(1), .is_in_doubt = [&] { return doubt; }});
  const Watch watch(watchful, io, server);
  const std::string id = make()->id().value();
  EXPECT_TRUE(proteus::test::run(io, records.replace(id, {kOne, 1}, full({kTwo, 2}))).value());
  EXPECT_NE(sessions->find(id, {}), nullptr);
  doubt = true;
  proteus::test::run_until(io, [&] { return sessions->find(id, {}) == nullptr; });
  // The session that is taken last is noticed when the doubt ends.
  const std::string last = make()->id().value();
  EXPECT_TRUE(proteus::test::run(io, records.replace(last, {kOne, 1}, full({kTwo, 2}))).value());
  doubt = false;
  proteus::test::run_until(io, [&] { return sessions->find(last, {}) == nullptr; });
}

// REP-10
TEST_F(Upkeep, RecordsGoWithSessionsThatEndAndStayWithThoseThatAreLeft) {
  const std::string removed = make()->id().value();
  const std::string left = make()->id().value();
  sessions->remove(removed, {});
  EXPECT_EQ(read(records, removed), std::nullopt);
  sessions->close_all();
  EXPECT_EQ(read(records, left)->holder, (SessionRecord::Holder{kOne, 1}));
}

}  // namespace
}  // namespace proteus::live
