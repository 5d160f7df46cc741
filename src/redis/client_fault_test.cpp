// REP-15: whatever answers in place of a Redis does no harm.
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/testing/scripted_server.hpp"
#include "redis/testing/client_fixture.hpp"

namespace proteus::redis::test {
namespace {

using net::test::hold;
using net::test::pause;
using net::test::Script;
using net::test::ScriptedServer;
using net::test::send;
using proteus::test::run_until;
using testing::HasSubstr;

constexpr const char* kHello = "*4\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n";

std::string url_of(const ScriptedServer& server) { return fmt::format("redis://127.0.0.1:{}", server.port()); }

ClientOptions hasty(const std::string& url) {
  auto options = TestClient::options_for(url);
  options.connect_timeout = std::chrono::milliseconds(300);
  options.answer_timeout = std::chrono::milliseconds(300);
  options.replies.bytes = 100'000;
  return options;
}

// Returns the error of a command that is answered with these bytes.
Error answer_to_question(std::string bytes) {
  boost::asio::io_context io;
  ScriptedServer server(io, {{send(kHello), pause(), send(std::move(bytes)), hold()}});
  TestClient client(io, url_of(server), hasty(url_of(server)));
  EXPECT_TRUE(client.connect());
  proteus::test::Started<Result<Reply>> asked(io, client->ask({"GET", "a"}));
  server.resume();
  auto answer = asked.finish();
  EXPECT_FALSE(answer);
  return answer ? errors::internal("it was answered") : std::move(answer.error());
}

TEST(HostileRedis, WhatIsNoReplyEndsTheConnection) {
  EXPECT_THAT(answer_to_question("HTTP/1.1 200 OK\r\n\r\n").message(), HasSubstr("broke its protocol"));
  EXPECT_THAT(answer_to_question(std::string("\0\0\0\0\r\n", 6)).message(), HasSubstr("broke its protocol"));
}

TEST(HostileRedis, ReplyThatIsTooLargeEndsTheConnection) {
  EXPECT_THAT(answer_to_question("*1000000000\r\n").message(), HasSubstr("100000"));
  EXPECT_THAT(answer_to_question("$1000000000\r\n" + std::string(300'000, 'x')).message(), HasSubstr("100000"));
  EXPECT_THAT(answer_to_question("+" + std::string(300'000, 'x')).message(), HasSubstr("100000"));
}

TEST(HostileRedis, ReplyThatDoesNotComeEndsTheConnection) {
  EXPECT_THAT(answer_to_question("$10\r\nabc").message(), HasSubstr("does not answer"));
}

TEST(HostileRedis, MovedIsAClearError) {
  EXPECT_THAT(answer_to_question("-MOVED 3999 127.0.0.1:6381\r\n").message(),
              HasSubstr("Redis Cluster, which is not supported"));
}

TEST(HostileRedis, ErrorIsShownWithoutControlCharacters) {
  const Error error = answer_to_question("-ERR \x1b[31m" + std::string(5'000, 'x') + "\r\n");
  EXPECT_FALSE(error.message().contains('\x1b'));
  EXPECT_LT(error.message().size(), 1'000U);
}

TEST(HostileRedis, AnswersThatNobodyAskedForEndTheConnection) {
  boost::asio::io_context io;
  ScriptedServer server(io, {{send(kHello), pause(), send("+OK\r\n+OK\r\n"), hold()}});
  TestClient client(io, url_of(server), hasty(url_of(server)));
  ASSERT_TRUE(client.connect());
  server.resume();
  run_until(io, [&client] { return !client->is_connected(); });
  EXPECT_NE(client->why_away(), "");
}

TEST(HostileRedis, GreetingIsBoundedInTimeAndSize) {
  for (const auto& script :
       {Script{hold()}, Script{send("*1000000000\r\n"), hold()}, Script{send("SSH-2.0\r\n"), hold()},
        Script{send("+OK\r\n"), hold()}, Script{send("-LOADING x\r\n"), hold()}, Script{}}) {
    boost::asio::io_context io;
    ScriptedServer server(io, {script});
    TestClient client(io, url_of(server), hasty(url_of(server)));
    EXPECT_FALSE(client.connect());
    EXPECT_EQ(client->figures().connections, 0U);
  }
}

TEST(HostileRedis, PausesBetweenAttemptsGrow) {
  boost::asio::io_context io;
  ScriptedServer server(io, {});
  auto options = hasty(url_of(server));
  options.first_pause = std::chrono::milliseconds(20);
  options.longest_pause = std::chrono::milliseconds(10'000);
  TestClient client(io, url_of(server), options);
  EXPECT_FALSE(client.connect());
  // 20, 40, 80, 160 ms and so on: no more pauses fit into the 300 ms of the wait.
  EXPECT_GE(server.connections, 2U);
  EXPECT_LE(server.connections, 5U);
}

}  // namespace
}  // namespace proteus::redis::test
