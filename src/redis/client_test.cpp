#include "redis/client.hpp"

#include <thread>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/testing/self_signed.hpp"
#include "redis/testing/client_fixture.hpp"
#include "redis/testing/redis_server.hpp"

namespace proteus::redis::test {
namespace {

using proteus::test::run_until;
using testing::HasSubstr;
using testing::Not;

class RedisClient : public testing::Test {
 protected:
  boost::asio::io_context io;
};

TEST_F(RedisClient, AsksAndIsAnswered) {
  RedisServer& server = shared_server();
  TestClient client(io, server.url());
  ASSERT_TRUE(client.connect());
  EXPECT_EQ(client.ask({"SET", "a", std::string("x\0\r\ny", 5)})->text, "OK");
  EXPECT_EQ(client.ask({"GET", "a"})->text, std::string("x\0\r\ny", 5));
  EXPECT_EQ(client.ask({"GET", "b"})->kind, Reply::Kind::nothing);
  EXPECT_EQ(client.ask({"INCR", "n"})->number, 1);
  EXPECT_EQ(client->figures().commands, 4U);
  EXPECT_EQ(client->figures().queued, 0U);
}

TEST_F(RedisClient, AnswersOfARefusalAreErrors) {
  TestClient client(io, shared_server().url());
  ASSERT_TRUE(client.connect());
  client.ask({"SET", "a", "text"}).value();
  const auto refused = client.ask({"INCR", "a"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::remote);
  EXPECT_THAT(refused.error().message(), HasSubstr("not an integer"));
  EXPECT_EQ(client.ask({"GET", "a"})->text, "text");
}

TEST_F(RedisClient, SendsWithoutWaitingAndInOrder) {
  RedisServer& server = shared_server();
  TestClient client(io, server.url());
  ASSERT_TRUE(client.connect());
  for (int i = 0; i < 5'000; ++i)
    ASSERT_TRUE(client->post(Words{"RPUSH", "list", std::to_string(i)}));
  const auto list = client.ask({"LRANGE", "list", "0", "-1"}).value();
  ASSERT_EQ(list.elements.size(), 5'000U);
  for (std::size_t i = 0; i < 5'000; ++i)
    ASSERT_EQ(list.elements[i].text, std::to_string(i));
}

TEST_F(RedisClient, IsUsedFromManyThreads) {
  TestClient client(io, shared_server().url());
  ASSERT_TRUE(client.connect());
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&client] {
      boost::asio::io_context own;
      for (int i = 0; i < 100; ++i) {
        client->post(Words{"INCR", "n"});
        EXPECT_TRUE(proteus::test::run(own, client->ask({"INCR", "m"})));
      }
    });
  }
  run_until(io, [&client] { return client->figures().commands == 800 && client->figures().queued == 0; });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(client.ask({"GET", "n"})->text, "400");
  EXPECT_EQ(client.ask({"GET", "m"})->text, "400");
}

TEST_F(RedisClient, UsesTheDatabaseOfTheUrl) {
  RedisServer& server = shared_server();
  TestClient client(io, server.url({}, "/5"));
  ASSERT_TRUE(client.connect());
  client.ask({"SET", "here", "1"}).value();
  EXPECT_TRUE(server.keys().empty());
  EXPECT_THAT(server.info("db5"), HasSubstr("keys=1"));
}

TEST_F(RedisClient, SignsInWithAPassword) {
  RedisServer server({"--requirepass", "open sesame"});
  TestClient client(io, server.url(":open%20sesame@"));
  ASSERT_TRUE(client.connect());
  EXPECT_EQ(client.ask({"PING"})->text, "PONG");
}

TEST_F(RedisClient, SignsInAsAUserOfTheAccessList) {
  RedisServer server;
  server.command({"ACL", "SETUSER", "gate", "on", ">word", "~proteus:*", "+@all"});
  TestClient client(io, server.url("gate:word@"));
  ASSERT_TRUE(client.connect());
  EXPECT_EQ(client.ask({"ACL", "WHOAMI"})->text, "gate");
  EXPECT_TRUE(client.ask({"SET", "proteus:a", "1"}));
  EXPECT_THAT(client.ask({"SET", "other", "1"}).error().message(), HasSubstr("NOPERM"));
}

TEST_F(RedisClient, SaysThatThePasswordIsWrongAndNotWhichItWas) {
  RedisServer server({"--requirepass", "right"});
  auto options = TestClient::options_for(server.url(":wr0ng@"));
  options.connect_timeout = std::chrono::milliseconds(300);
  TestClient client(io, server.url(":wr0ng@"), options);
  const auto connected = client.connect();
  ASSERT_FALSE(connected);
  EXPECT_THAT(connected.error().message(), HasSubstr("WRONGPASS"));
  EXPECT_THAT(connected.error().message(), Not(HasSubstr("wr0ng")));

  TestClient without(io, server.url(), [&] {
    auto none = TestClient::options_for(server.url());
    none.connect_timeout = std::chrono::milliseconds(300);
    return none;
  }());
  EXPECT_THAT(without.connect().error().message(), HasSubstr("NOAUTH"));
}

TEST_F(RedisClient, SpeaksTls) {
  const net::SelfSigned certificate;
  const net::test::ClosedPort port;
  RedisServer server({"--tls-port", std::to_string(port.number()), "--tls-cert-file",
                      certificate.certificate_file().string(), "--tls-key-file", certificate.key_file().string(),
                      "--tls-auth-clients", "no"});
  const std::string there = fmt::format("rediss://localhost:{}", port.number());
  const std::string known = fmt::format("{}?sslrootcert={}", there, certificate.certificate_file().string());
  TestClient client(io, known);
  ASSERT_TRUE(client.connect());
  const std::string large(1'000'000, 'x');
  client.ask({"SET", "a", large}).value();
  EXPECT_EQ(client.ask({"GET", "a"})->text, large);

  auto options = TestClient::options_for(there);
  options.connect_timeout = std::chrono::milliseconds(500);
  TestClient stranger(io, there, options);
  EXPECT_THAT(stranger.connect().error().message(), HasSubstr("certificate"));
}

TEST_F(RedisClient, RefusesARedisCluster) {
  RedisServer server(
      {"--cluster-enabled", "yes", "--cluster-config-file", fmt::format("/tmp/proteus-nodes-{}.conf", ::getpid())});
  auto options = TestClient::options_for(server.url());
  options.connect_timeout = std::chrono::milliseconds(300);
  TestClient client(io, server.url(), options);
  EXPECT_THAT(client.connect().error().message(), HasSubstr("Redis Cluster, which is not supported"));
  ::unlink(fmt::format("/tmp/proteus-nodes-{}.conf", ::getpid()).c_str());
}

TEST_F(RedisClient, RefusesAReplica) {
  RedisServer& first = shared_server();
  RedisServer server({"--replicaof", "127.0.0.1", std::to_string(first.port())});
  auto options = TestClient::options_for(server.url());
  options.connect_timeout = std::chrono::milliseconds(300);
  TestClient client(io, server.url(), options);
  EXPECT_THAT(client.connect().error().message(), HasSubstr("nothing can be written to"));
}

// REP-13
TEST_F(RedisClient, ComesBackWhenRedisIsRestarted) {
  RedisServer server;
  TestClient client(io, server.url());
  ASSERT_TRUE(client.connect());
  client.ask({"SET", "a", "1"}).value();
  server.stop();
  run_until(io, [&client] { return !client->is_connected(); });
  EXPECT_FALSE(client->post(Words{"PING"}));
  const auto refused = client.ask({"GET", "a"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::unavailable);
  EXPECT_NE(client->why_away(), "");
  EXPECT_EQ(client->figures().dropped, 2U);

  server.start();
  run_until(io, [&client] { return client->is_connected(); });
  EXPECT_EQ(client.ask({"GET", "a"})->kind, Reply::Kind::nothing);
  EXPECT_EQ(client->why_away(), "");
  EXPECT_EQ(client->figures().connections, 2U);
}

// REP-13
TEST_F(RedisClient, LetsGoOfARedisThatStandsStill) {
  RedisServer server;
  auto options = TestClient::options_for(server.url());
  options.answer_timeout = std::chrono::milliseconds(200);
  options.connect_timeout = std::chrono::milliseconds(300);
  TestClient client(io, server.url(), options);
  ASSERT_TRUE(client.connect());
  server.signal(SIGSTOP);
  const auto unanswered = client.ask({"SET", "a", "1"});
  ASSERT_FALSE(unanswered);
  EXPECT_EQ(unanswered.error().kind(), ErrorKind::interrupted);
  EXPECT_THAT(unanswered.error().message(), HasSubstr("does not answer"));
  server.signal(SIGCONT);
  run_until(io, [&client] { return client->is_connected(); });
  EXPECT_TRUE(client.ask({"PING"}));
}

TEST_F(RedisClient, NoticesWithoutCommandsThatRedisStandsStill) {
  RedisServer server;
  auto options = TestClient::options_for(server.url());
  options.answer_timeout = std::chrono::milliseconds(200);
  options.ping_every = std::chrono::milliseconds(100);
  TestClient client(io, server.url(), options);
  ASSERT_TRUE(client.connect());
  server.signal(SIGSTOP);
  run_until(io, [&client] { return !client->is_connected(); });
  EXPECT_EQ(client->figures().commands, 0U);
  server.signal(SIGCONT);
  run_until(io, [&client] { return client->is_connected(); });
}

TEST_F(RedisClient, QueuesNoMoreThanItMay) {
  RedisServer server;
  auto options = TestClient::options_for(server.url());
  options.queued_bytes = 10'000;
  options.queued_commands = 50;
  TestClient client(io, server.url(), options);
  ASSERT_TRUE(client.connect());
  int sent = 0;
  while (client->post(Words{"PING"}))
    ++sent;
  EXPECT_EQ(sent, 50);
  run_until(io, [&client] { return client->figures().queued == 0; });
  EXPECT_FALSE(client->post(Words{"SET", "a", std::string(20'000, 'x')}));
  EXPECT_TRUE(client->post(Words{"PING"}));
  EXPECT_EQ(client->figures().dropped, 2U);
}

TEST_F(RedisClient, TellsThoseWhoWaitWhenItStops) {
  RedisServer server;
  server.signal(SIGSTOP);
  auto options = TestClient::options_for(server.url());
  auto client = std::make_unique<TestClient>(io, server.url(), options);
  proteus::test::settle(io);
  client.reset();
  server.signal(SIGCONT);
  client = std::make_unique<TestClient>(io, server.url(), options);
  ASSERT_TRUE(client->connect());
  server.signal(SIGSTOP);
  proteus::test::Started<Result<Reply>> asked(io, (*client)->ask({"PING"}));
  client.reset();
  EXPECT_EQ(asked.finish().error().kind(), ErrorKind::interrupted);
  server.signal(SIGCONT);
}

}  // namespace
}  // namespace proteus::redis::test
