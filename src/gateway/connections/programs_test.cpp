// Lifetime and number of the programs that run for single callers.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "gateway/testing/bridge_fixture.hpp"

namespace proteus::gateway {
namespace {

using namespace test;
using server::LegacyClient;
using server::rpc;
using server::text_of;
using ::testing::HasSubstr;

constexpr std::size_t kOwnProgram = 1;  // the gateway's own program

// Number of child processes of this process.
std::size_t running_children() {
  std::size_t count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (int id = 0; children >> id;)
      ++count;
  }
  return count;
}

class SessionPrograms : public ::testing::Test {
 protected:
  std::unique_ptr<TestGateway> start(std::chrono::milliseconds idle, TestGateway::Setup setup = {}) {
    providers::UpstreamSettings settings;
    settings.name = "program";
    settings.prefix = "";
    settings.command = {"python3", PROTEUS_SOURCE_DIR "/tests/fixtures/stdio_server.py", "--era", "legacy"};
    settings.program_idle = idle;
    auto gateway = std::make_unique<TestGateway>(std::vector{settings}, std::move(setup));
    gateway->discover();
    return gateway;
  }
  static void look_over(TestGateway& gateway) { gateway.gateway.drop_unused_since(std::chrono::steady_clock::now()); }
  // Number of messages that a session's program has received; small after a restart.
  static std::size_t seen(LegacyClient& client) {
    const auto journal = text_of(client.call("9", "journal").json());
    return boost::json::parse(journal).as_array().size();
  }
};

// SES-26
TEST_F(SessionPrograms, EndLongBeforeTheSessionOfAClientThatIsGone) {
  const auto gateway = start(1ms);
  {
    std::vector<std::unique_ptr<LegacyClient>> clients;
    for (int i = 0; i < 5; ++i) {
      clients.push_back(std::make_unique<LegacyClient>(gateway->port()));
      EXPECT_EQ(text_of(clients.back()->call("1", "echo", R"(,"arguments":{})").json()), "{}");
    }
    EXPECT_EQ(running_children(), kOwnProgram + 5);
  }
  wait_until([&] {
    look_over(*gateway);
    return running_children() == kOwnProgram;
  });
  EXPECT_EQ(gateway->gateway.endpoint().sessions().size(), 5U)
      << "the sessions themselves are not idle for long enough";
}

// SES-26
TEST_F(SessionPrograms, AreStartedAgainWhenTheSessionCallsAgain) {
  const auto gateway = start(1ms);
  LegacyClient client(gateway->port());
  for (int i = 0; i < 5; ++i)
    (void)client.call("1", "echo");
  const auto before = seen(client);
  wait_until([&] {
    look_over(*gateway);
    return running_children() == kOwnProgram;
  });
  EXPECT_LT(seen(client), before);
  EXPECT_EQ(running_children(), kOwnProgram + 1);
}

// SES-26: the client is connected and may be notified.
TEST_F(SessionPrograms, StayWhileTheirClientHasAStream) {
  const auto gateway = start(1ms);
  LegacyClient with(gateway->port());
  RawClient stream(gateway->port());
  ASSERT_EQ(stream.request("GET", with.fields() + "Accept: text/event-stream\r\n").status, 200);
  LegacyClient without(gateway->port());
  (void)with.call("1", "echo");
  (void)without.call("1", "echo");
  wait_until([&] {
    look_over(*gateway);
    return running_children() == kOwnProgram + 1;
  });
  const auto seen_so_far = seen(with);
  EXPECT_EQ(seen(with), seen_so_far + 1) << "it is still the same program";
}

// SES-26: a call that waits for its client's input is not idle.
TEST_F(SessionPrograms, StayWhileACallIsParkedInThem) {
  const auto gateway = start(1ms);
  ModernClient client(*gateway);
  const auto asked = client.call("ask");
  ASSERT_TRUE(asks(asked)) << asked;
  LegacyClient gone(gateway->port());
  (void)gone.call("1", "echo");
  // The other program is gone, so this one was checked, too.
  wait_until([&] {
    look_over(*gateway);
    return running_children() <= kOwnProgram + 2;
  });
  const auto& requests = asked.at("result").at("inputRequests").as_object();
  const auto answers = fmt::format(R"({{"{}":{}}})", std::string_view(requests.begin()->key()), kAda);
  EXPECT_THAT(text_of(client.again("ask", asked, answers)), HasSubstr("Ada"));
}

// SES-26
TEST_F(SessionPrograms, MakeRoomForOthersWhereTheyAreIdle) {
  TestGateway::Setup setup;
  setup.programs.per_upstream = 2;
  const auto gateway = start(1h, std::move(setup));
  std::vector<std::unique_ptr<LegacyClient>> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(std::make_unique<LegacyClient>(gateway->port()));
    EXPECT_EQ(text_of(clients.back()->call("1", "echo", R"(,"arguments":{})").json()), "{}");
    EXPECT_LE(running_children(), kOwnProgram + 2);
  }
  EXPECT_EQ(text_of(clients.front()->call("2", "echo", R"(,"arguments":{})").json()), "{}") << "it is started again";
}

// SES-26: one program ends for the anonymous call, and none for the session that is prepared for the next such call.
TEST_F(SessionPrograms, DoNotMakeRoomForASessionThatNobodyWaitsFor) {
  TestGateway::Setup setup;
  setup.programs.per_upstream = 2;
  const auto gateway = start(1h, std::move(setup));
  LegacyClient first(gateway->port());
  LegacyClient second(gateway->port());
  (void)first.call("1", "echo");
  (void)second.call("1", "echo");
  const auto seen_so_far = seen(second);
  ModernClient anonymous(*gateway);
  const auto asked = anonymous.call("ask");
  ASSERT_TRUE(asks(asked)) << asked;
  EXPECT_EQ(seen(second), seen_so_far + 1) << "it is still the same program";
}

// SES-26: the first anonymous call needs a program itself, before one is prepared for the next such call.
TEST_F(SessionPrograms, DoNotMakeRoomForTheSessionThatTheFirstAnonymousCallPrepares) {
  TestGateway::Setup setup;
  setup.programs.per_upstream = 2;
  const auto gateway = start(1h, std::move(setup));
  LegacyClient client(gateway->port());
  (void)client.call("1", "echo");
  const auto seen_so_far = seen(client);
  ModernClient anonymous(*gateway);
  const auto asked = anonymous.call("ask");
  ASSERT_TRUE(asks(asked)) << asked;
  EXPECT_EQ(seen(client), seen_so_far + 1) << "it is still the same program";
}

class LimitedPrograms : public SessionPrograms, public ::testing::WithParamInterface<bool> {};

// SES-26
TEST_P(LimitedPrograms, AreRefusedBeyondTheLimitWhereAllAreInUse) {
  TestGateway::Setup setup;
  (GetParam() ? setup.programs.per_upstream : setup.programs.total) = 1;
  const auto gateway = start(1h, std::move(setup));
  LegacyClient first(gateway->port());
  RawClient stream(gateway->port());
  ASSERT_EQ(stream.request("GET", first.fields() + "Accept: text/event-stream\r\n").status, 200);
  ASSERT_EQ(text_of(first.call("1", "echo", R"(,"arguments":{})").json()), "{}");
  LegacyClient second(gateway->port());
  const auto refused = second.call("1", "echo").json();
  ASSERT_TRUE(refused.as_object().contains("error")) << refused;
  EXPECT_THAT(std::string(refused.at("error").at("message").as_string()),
              HasSubstr(GetParam() ? "limits.programs_per_upstream" : "limits.programs"));
  EXPECT_EQ(text_of(first.call("2", "echo", R"(,"arguments":{})").json()), "{}") << "and who has one keeps it";
}

INSTANTIATE_TEST_SUITE_P(Limits, LimitedPrograms, ::testing::Bool(),
                         [](const auto& limit) { return limit.param ? "OfOneUpstream" : "InAll"; });

// SES-26
TEST(ClientSessions, EndByATimer) {
  Upstream upstream;
  TestGateway::Setup setup;
  setup.session_idle = 0s;
  TestGateway gateway({upstream_at("u", upstream.port)}, std::move(setup));
  gateway.discover();
  {
    LegacyClient client(gateway.port());
    (void)client.call("1", "u_echo");
  }
  wait_until([&] {
    gateway.gateway.drop_unused_since(std::chrono::steady_clock::now());
    return gateway.gateway.endpoint().sessions().size() == 0;
  });
}

}  // namespace
}  // namespace proteus::gateway
