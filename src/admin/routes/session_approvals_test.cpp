// SES-12: what a user's approval of a session's tool is valid for, and how long a session with a running call lives.
#include <gmock/gmock.h>

#include "admin/testing/session_fixture.hpp"

namespace proteus::admin::test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kElicitsForms = R"({"elicitation":{"form":{}}})";
constexpr std::string_view kDestructiveHint = R"(,"annotations":{"destructiveHint":true})";
constexpr std::string_view kYes = R"({"action":"accept","content":{"confirmed":true}})";

class SessionApprovals : public testing::Test {
 protected:
  SessionApprovals() {
    bench_.init("s", "tok");
    register_at("/drop");
  }

  void register_at(std::string_view path, std::string_view more = {}) {
    bench_.add("s",
               {tool_text("drop_table", bench_.backend.url(path), std::string(kDestructiveHint) + std::string(more))});
  }
  std::string state() {
    const auto asked = bench_.call_as("tok", "drop_table", R"({"query":"x"})", {}, kElicitsForms).json().at("result");
    return std::string(asked.at("requestState").as_string());
  }
  std::string approve(std::string_view state) {
    const std::string retry =
        fmt::format(R"(,"requestState":"{}","inputResponses":{{"confirmation":{}}})", state, kYes);
    return bench_.call_as("tok", "drop_table", R"({"query":"x"})", retry, kElicitsForms).body;
  }
  std::size_t asked() { return bench_.backend.asked().size(); }

  store::MemoryStore store_;
  SessionFixture bench_{store_};
};

TEST_F(SessionApprovals, AreForTheToolOfWhichTheUserWasAsked) {
  for (const auto& [path, more] :
       {std::pair("/elsewhere", ""), std::pair("/drop", R"(,"fixed_params":{"all":true})")}) {
    register_at("/drop");
    const std::string before = state();
    register_at(path, more);
    EXPECT_THAT(approve(before), HasSubstr("changed while confirmation was awaited"));
  }
  EXPECT_EQ(asked(), 0U);
}

TEST_F(SessionApprovals, AreValidForTheSameToolRegisteredAgain) {
  const std::string before = state();
  register_at("/drop");
  EXPECT_THAT(approve(before), HasSubstr("structuredContent"));
  EXPECT_EQ(asked(), 1U);
}

TEST_F(SessionApprovals, OfALegacyClientAreValidForTheSameToolRegisteredAgain) {
  for (const auto& [path, runs] : {std::pair("/drop", true), std::pair("/elsewhere", false)}) {
    register_at("/drop");
    const std::size_t before = asked();
    server::LegacyClient legacy(bench_.server.local_port(), "2025-11-25", kElicitsForms, bearer("tok"));
    legacy.client.send_request("POST", legacy.fields(),
                               server::rpc("5", "tools/call", R"("name":"drop_table","arguments":{"query":"x"})"));
    EXPECT_EQ(legacy.client.read_answer().status, 200);
    const auto next = [&] {
      auto event = legacy.client.read_event();
      while (event && event->data.empty())
        event = legacy.client.read_event();
      return event->json();
    };
    const auto question = next();
    register_at(path);
    RawClient other(bench_.server.local_port());
    other.request(
        "POST", legacy.fields(),
        fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", boost::json::serialize(question.at("id")), kYes));
    EXPECT_EQ(boost::json::serialize(next()).contains("changed or removed"), !runs);
    EXPECT_EQ(asked() - before, runs ? 1U : 0U);
  }
}

// SES-17
TEST_F(SessionApprovals, ARunningCallUsesItsSession) {
  bench_.add("s", {tool_text("slow", bench_.backend.url())});
  bench_.backend.hold("/fetch");
  RawClient client(bench_.server.local_port());
  client.send_request(
      "POST", server::modern_fields("tools/call", "slow") + bearer("tok"),
      server::rpc("1", "tools/call", R"("name":"slow","arguments":{"query":"x"},)" + server::modern_meta()));
  wait_until([&] { return asked() == 1; });
  for (int i = 0; i < 3; ++i) {
    bench_.clock.skip(std::chrono::minutes(20));
    bench_.run(bench_.sessions.look_over());
  }
  EXPECT_EQ(bench_.sessions.size(), 1U);
  bench_.backend.release();
  EXPECT_EQ(client.read_answer().status, 200);
  EXPECT_EQ(bench_.status_for("tok"), 200);
}

}  // namespace
}  // namespace proteus::admin::test
