// Tests of the revisions of the legacy era over pipes.
#include <gtest/gtest.h>

#include "client/testing/test_support.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using test::Client;

TEST(StdioRevisions, NegotiatesEveryRevisionThatHasAHandshake) {  // PRO-02
  for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    Client client(test::stdio_fixture({"--era", "legacy", "--version", version}), test::quick());
    EXPECT_EQ(mcp::to_string(client.run(client.connection.open()).value()->version), version);
  }
  Client client(test::stdio_fixture({"--era", "legacy", "--version", "1999-01-01"}), test::quick());
  EXPECT_EQ(client.run(client.connection.open()).error().kind(), ErrorKind::unsupported);
}

TEST(StdioRevisions, ReceivesTheBatchesOfTheRevisionThatHasThem) {  // PRO-02
  Client old(test::stdio_fixture({"--era", "legacy", "--version", "2025-03-26"}), test::quick());
  EXPECT_EQ(old.text("batch"), "in a batch");
  Client newer(test::stdio_fixture({"--era", "legacy", "--version", "2025-06-18"}), test::quick());
  RequestOptions options;
  options.timeout = 50ms;
  EXPECT_EQ(newer.call("batch", "{}", options).error().kind(), ErrorKind::timeout);
}

// Refuses our version although it speaks it, as often as its argument says.
constexpr const char* kFickleProgram = R"(
import json, sys

refusals = int(sys.argv[1])

for line in sys.stdin:
    message = json.loads(line)
    answer = {'jsonrpc': '2.0', 'id': message['id']}
    if message['method'] == 'server/discover' and refusals > 0:
        refusals -= 1
        answer['error'] = {'code': -32022, 'message': 'not this one', 'data': {'supported': ['2026-07-28']}}
    else:
        answer['result'] = {'resultType': 'complete', 'supportedVersions': ['2026-07-28'], 'capabilities': {}}
    print(json.dumps(answer), flush=True)
)";

// PRO-03
TEST(StdioRevisions, AsksOnceMoreWhereItsVersionIsRefusedAndSpoken) {
  const auto open = [](const char* refusals) {
    Client client(net::Command{{"python3", "-c", kFickleProgram, refusals}, net::child_environment({})}, test::quick());
    return client.run(client.connection.open());
  };
  const auto facts = open("1");
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ((*facts)->era(), mcp::Era::modern);
  EXPECT_EQ(open("2").error().message(), "not this one");
}

}  // namespace
}  // namespace proteus::client
