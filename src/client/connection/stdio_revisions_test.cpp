// The revisions of the legacy era, over pipes.
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

}  // namespace
}  // namespace proteus::client
