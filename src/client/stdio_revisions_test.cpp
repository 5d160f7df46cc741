// The revisions of the legacy era, over pipes.
#include <gtest/gtest.h>

#include "client/test_support.hpp"

namespace proteus::client {
namespace {

using namespace std::chrono_literals;
using test::Client;

net::Command fixture(std::vector<std::string> arguments) {
  net::Command command{{"python3", PROTEUS_SOURCE_DIR "/tests/fixtures/stdio_server.py"}, net::child_environment({})};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  return command;
}

Options quick() {
  Options options;
  options.reconnect_delay = 1ms;
  return options;
}

TEST(StdioRevisions, NegotiatesEveryRevisionThatHasAHandshake) {  // PRO-02
  for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    Client client(fixture({"--era", "legacy", "--version", version}), quick());
    EXPECT_EQ(mcp::to_string(client.run(client.connection.open()).value()->version), version);
  }
  Client client(fixture({"--era", "legacy", "--version", "1999-01-01"}), quick());
  EXPECT_EQ(client.run(client.connection.open()).error().kind(), ErrorKind::unsupported);
}

TEST(StdioRevisions, ReceivesTheBatchesOfTheRevisionThatHasThem) {  // PRO-02
  Client old(fixture({"--era", "legacy", "--version", "2025-03-26"}), quick());
  EXPECT_EQ(old.text("batch"), "in a batch");
  Client newer(fixture({"--era", "legacy", "--version", "2025-06-18"}), quick());
  RequestOptions options;
  options.timeout = 50ms;
  EXPECT_EQ(newer.call("batch", "{}", options).error().kind(), ErrorKind::timeout);
}

}  // namespace
}  // namespace proteus::client
