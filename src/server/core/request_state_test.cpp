#include "server/core/request_state.hpp"

#include <string>

#include <gtest/gtest.h>

#include "mcp/over_limit.hpp"

namespace proteus::server {
namespace {

class States : public ::testing::Test {
 protected:
  Result<Rounds> open(const std::string& params, const Caller& caller = {}) {
    text =
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t",)" + params +
        R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
    message = json::scan(text).value();
    auto decoded = mcp::modern::decode(message, {}, {});
    if (!decoded) return std::unexpected(decoded.error());
    request = *decoded;
    const auto mark = mark_of(request.param("arguments"));
    return states.open(request, caller, mark ? *mark : std::string_view{});
  }
  Result<std::string> mint(const Caller& caller, const Rounds& rounds) {
    const auto mark = mark_of(request.param("arguments"));
    if (!mark) return mark;
    return states.mint(request, caller, *mark, rounds);
  }

  ManualClock clock;
  RequestStates states{SealingKey::random(), clock, std::chrono::minutes(10)};
  std::string text;
  json::Message message;
  mcp::Request request;
};

// PRO-10
TEST_F(States, BindTheCallerTheRequestAndATime) {
  const Caller alice{"alice"};
  ASSERT_TRUE(open(R"("arguments":{"a":1,"b":2},)", alice));
  const auto state = mint(alice, {.round = 1, .answers = {{"k", R"({"x":1})"}}, .state = "s"}).value();
  const std::string with_state = R"("requestState":")" + state + "\",";
  const auto opened = open(R"("arguments":{ "b":2, "a":1.0 },)" + with_state, alice);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->state, "s");
  EXPECT_EQ(opened->round, 1U);
  EXPECT_EQ(opened->answers.at("k"), R"({"x":1})");
  EXPECT_FALSE(open(R"("arguments":{"a":1,"b":3},)" + with_state, alice));
  EXPECT_FALSE(open(R"("arguments":{"a":1,"b":2},)" + with_state, Caller{"bob"}));
  EXPECT_FALSE(open(with_state, alice));
  clock.advance(std::chrono::minutes(11));
  EXPECT_FALSE(open(R"("arguments":{"a":1,"b":2},)" + with_state, alice));
}

// PRO-10: what runs is what was confirmed, to the last digit and in the same context.
TEST_F(States, BindNumbersExactlyAndTheContext) {
  const Caller alice{"alice", "sales"};
  const auto state_for = [&](const std::string& arguments) {
    EXPECT_TRUE(open(fmt::format(R"("arguments":{},)", arguments), alice));
    return mint(alice, {.round = 1, .answers = {}, .state = "s"}).value();
  };
  const auto opens = [&](const std::string& arguments, const std::string& state, const Caller& caller) {
    return open(fmt::format(R"("arguments":{},"requestState":"{}",)", arguments, state), caller).has_value();
  };
  const auto large = state_for(R"({"n":12345678901234567890123})");
  EXPECT_TRUE(opens(R"({"n":12345678901234567890123})", large, alice));
  EXPECT_FALSE(opens(R"({"n":12345678901234567890999})", large, alice));
  EXPECT_FALSE(opens(R"({"n":12345678901234567890123})", large, Caller{"alice", "other"}));
  EXPECT_FALSE(opens(R"({"n":1e500})", state_for(R"({"n":1e400})"), alice));
}

// PRO-10, SEC-03: making megabytes canonical would block a worker.
TEST_F(States, BindLargeArgumentsByTheirBytes) {
  const auto large = [](std::string_view first, std::string_view last) {
    return fmt::format(R"("arguments":{{"{}":1,"x":"{}","{}":1}},)", first, std::string(70'000, 'x'), last);
  };
  ASSERT_TRUE(open(large("a", "b")));
  const auto state = mint({}, {.round = 1, .answers = {}, .state = "s"}).value();
  const std::string with_state = R"("requestState":")" + state + "\",";
  EXPECT_TRUE(open(large("a", "b") + with_state));
  EXPECT_FALSE(open(large("b", "a") + with_state));
  EXPECT_FALSE(open(large("a", "c") + with_state));
  EXPECT_FALSE(open(R"("arguments":{},)" + with_state));
}

// PRO-10: two readers could see different values, so nothing can be bound to such arguments.
TEST_F(States, AreNotMadeForArgumentsThatHaveAKeyTwice) {
  ASSERT_TRUE(open(R"("arguments":{"to":"ada","to":"eve"},)"));
  EXPECT_FALSE(mint({}, {.round = 1, .answers = {}, .state = "s"}));
  ASSERT_TRUE(open(R"("arguments":{"x":[{"to":"ada","t\u006f":"eve"}]},)"));
  EXPECT_FALSE(mint({}, {.round = 1, .answers = {}, .state = "s"}));
}

TEST_F(States, RefuseWhatIsNoStateOrNoResponse) {
  EXPECT_FALSE(open(R"("requestState":7,)"));
  EXPECT_FALSE(open(R"("requestState":"","inputResponses":{},)"));
  EXPECT_FALSE(open(R"("inputResponses":null,)"));
  EXPECT_FALSE(open(R"("inputResponses":{"a":1},)"));
  EXPECT_TRUE(open(R"("inputResponses":{"a":{}},)"));
}

}  // namespace
}  // namespace proteus::server
