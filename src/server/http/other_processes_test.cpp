// Sessions of processes that have ended.
#include <gtest/gtest.h>

#include "server/api/registered_service.hpp"
#include "server/testing/process.hpp"
#include "server/testing/test_server.hpp"

namespace proteus::server {
namespace {

class LeftSession : public ::testing::Test {
 protected:
  RawClient::Answer ping(const Process& at) const {
    RawClient client(at.server.port());
    return client.request("POST", fmt::format("Mcp-Session-Id: {}\r\n", id), rpc("1", "ping", ""));
  }

  Listeners listeners;
  RegisteredService service{{.name = "test", .version = "1"}, {}, listeners};
  MemoryRecords records;
  const std::string id = Process::left_session(records);
};

// REP-10, REP-14
TEST_F(LeftSession, StaysFreeWhereThereIsNoPlaceForIt) {
  struct Case {
    std::size_t places;
    std::size_t open;
    int status;
    std::string_view retry_after;
  };
  for (const auto& [places, open, status, retry_after] :
       {Case{.places = 1, .open = 1, .status = 503, .retry_after = "1"},
        Case{.places = 4, .open = 3, .status = 429, .retry_after = "60"}}) {
    HttpEndpointOptions options;
    options.sessions.sessions = places;
    Process full("full", service, records, options);
    for (std::size_t i = 0; i < open; ++i)
      ASSERT_TRUE(full.endpoint.sessions().create({.caller = {.principal = "mia"}}));
    const auto refused = ping(full);
    EXPECT_EQ(refused.status, status);
    EXPECT_EQ(refused.field("retry-after"), retry_after);
    ASSERT_TRUE(records.find(id));
    EXPECT_EQ(records.find(id)->holder.process, nobody());
  }
  Process other("other", service, records);
  EXPECT_EQ(ping(other).status, 200);
  EXPECT_EQ(records.find(id)->holder.process, process_key_of("other"));
}

// AUT-04, OAU-10
TEST_F(LeftSession, EndsWithTheCredentialsOfWhoAsksForIt) {
  Process other("other", service, records);
  records.on_read = [&other] { other.grant->withdraw(); };
  const auto refused = ping(other);
  EXPECT_EQ(refused.status, 401);
  EXPECT_TRUE(refused.field("www-authenticate").starts_with("Bearer")) << refused.field("www-authenticate");
  EXPECT_FALSE(records.find(id));
}

}  // namespace
}  // namespace proteus::server
