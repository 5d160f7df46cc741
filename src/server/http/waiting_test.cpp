// Requests that wait for other processes or for a background thread.
#include <atomic>
#include <future>

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "server/testing/following_service.hpp"
#include "server/testing/process.hpp"
#include "server/testing/test_server.hpp"

namespace proteus::server {
namespace {

// Asks in the first round of each call of a tool, and counts all rounds.
class AskingService final : public FollowingService {
 public:
  Task<mcp::Outcome> handle(Call& call) override {
    ++rounds;
    if (call.request().method->may_ask && call.rounds().round == 0)
      co_return mcp::InputRequired{.requests = {}, .state = "asked"};
    co_return mcp::Reply{};
  }
  ProcessKey holder_of(const Rounds&) const override { return process_key_of("ended"); }

  std::atomic<int> rounds = 0;
};

// Blocks the thread that destroys it.
struct Blocker {
  std::future<void> until;
  ~Blocker() { until.wait(); }
};

class WaitingRequest : public ::testing::Test {
 protected:
  WaitingRequest() { options.background = &background; }

  // Another request has just taken the session over, with other credentials.
  void take_over(Process& process) const {
    EXPECT_TRUE(process.endpoint.sessions().adopt(id, {.caller = {.principal = "mia"}}, *records.find(id)));
  }
  static void expect_refused(RawClient& client) {
    const auto refused = client.read_answer();
    EXPECT_EQ(refused.status, 401);
    EXPECT_TRUE(refused.field("www-authenticate").starts_with("Bearer")) << refused.field("www-authenticate");
  }

  AskingService service;
  MemoryRecords records;
  const std::string id = Process::left_session(records);
  const std::string fields = fmt::format("Mcp-Session-Id: {}\r\n", id);
  BackgroundThreads background{1};
  HttpEndpointOptions options;
};

// AUT-04
TEST_F(WaitingRequest, IsRefusedIfItsTokenIsWithdrawnWhileAnotherProcessIsAskedForItsRound) {
  Process process("here", service, records, options);
  process.others.on_relay = [&process] { process.grant->withdraw(); };
  RawClient client(process.server.port());
  const auto call = [&client](std::string_view more) {
    client.send_request("POST", modern_fields("tools/call", "x"),
                        rpc("1", "tools/call", fmt::format(R"("name":"x",{}{})", more, modern_meta())));
  };
  call("");
  const auto asked = client.read_answer().json();
  call(fmt::format(R"("requestState":{},)", boost::json::serialize(asked.at("result").at("requestState"))));
  expect_refused(client);
  EXPECT_EQ(service.rounds, 1);
}

// AUT-04
TEST_F(WaitingRequest, IsRefusedIfItsTokenIsWithdrawnWhileAnotherProcessIsAskedForItsSession) {
  Process process("here", service, records, options);
  process.others.on_relay = [&] {
    take_over(process);
    process.grant->withdraw();
  };
  RawClient client(process.server.port());
  client.send_request("POST", fields, rpc("1", "tools/call", R"("name":"x")"));
  expect_refused(client);
  EXPECT_EQ(service.rounds, 0);
}

// AUT-04
TEST_F(WaitingRequest, IsRefusedIfItsTokenIsWithdrawnWhileItIsScanned) {
  Process process("here", service, records, options);
  std::promise<void> read;
  std::promise<void> go_on;
  process.others.on_relay = [&] {
    take_over(process);
    (void)background.ending_here(std::make_shared<Blocker>(go_on.get_future()));
    read.set_value();
  };
  RawClient client(process.server.port());
  client.send_request(
      "POST", fields,
      rpc("1", "tools/call", fmt::format(R"("name":"x","arguments":{{"a":"{}"}})", std::string(100'000, 'a'))));
  read.get_future().wait();
  process.server.settle();  // the message waits for the thread now
  process.grant->withdraw();
  go_on.set_value();
  expect_refused(client);
  EXPECT_EQ(service.rounds, 0);
}

// SEC-03: a batch is scanned twice, which takes long.
TEST_F(WaitingRequest, LeavesTheWorkerToOthersWhileALongBatchIsRead) {
  const std::string of_batches = Process::left_session(records, mcp::Version::v2025_03_26);
  Process process("here", service, records, options);
  std::promise<void> found;
  std::promise<void> go_on;
  records.on_read = [&] {
    (void)background.ending_here(std::make_shared<Blocker>(go_on.get_future()));
    found.set_value();
  };
  RawClient client(process.server.port());
  client.send_request("POST", fmt::format("Mcp-Session-Id: {}\r\n", of_batches),
                      fmt::format(R"([{},"{}"])", rpc("1", "resources/list", ""), std::string(100'000, 'a')));
  found.get_future().wait();
  process.server.settle();
  EXPECT_EQ(service.rounds, 0);
  go_on.set_value();
  EXPECT_EQ(client.read_answer().status, 200);
  EXPECT_EQ(client.read_event()->json().at("id"), 1);
  EXPECT_EQ(code_of(client.read_event()->json()), -32600);
  EXPECT_EQ(service.rounds, 1);
}

}  // namespace
}  // namespace proteus::server
