// Tests of roots that a legacy server over HTTP may ask for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/testing/legacy_http_fixture.hpp"

namespace proteus::client {
namespace {

using namespace test;

using LegacyHttp = test::LegacyHttp;

// BRG-13
TEST_F(LegacyHttp, AsksForNoRootsAgainWhenAPingHasEndedTheSession) {
  number_sessions();
  mcp.on["ping"] = [](const FakeRequest&) { return FakeResponse{.status = 404}; };
  Options options = test::quick();
  options.owner = Owner::session;
  options.handlers.list_roots = [](Question) -> Task<Result<std::string>> { co_return R"({"roots":[]})"; };
  Client client(io, server.url(), std::move(options));
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_EQ(client.text("echo"), "done");
  EXPECT_LE(server.count("ping"), 2U);
  EXPECT_LE(server.count("initialize"), 3U);
}

}  // namespace
}  // namespace proteus::client
