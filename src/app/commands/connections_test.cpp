// `proteus connections`, in process: what it makes of the gateway's answers.
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/commands/command.hpp"
#include "net/testing/http_test_server.hpp"
#include "store/testing/test_support.hpp"

namespace proteus::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Removal {
  ExitCode code;
  std::string out;
  std::string err;
};

Task<> answer_removal(net::Exchange& exchange, std::string_view answer) {
  co_await exchange.reply({.content_type = "application/json"}, answer);
}

// Removes a connection, which the gateway answers with these members.
Removal removed(std::string_view members, std::vector<std::string> options = {}) {
  const std::string answer = fmt::format(R"({{"id":"c1","upstream":"notes","state":"disconnected",{}}})", members);
  net::TestServer gateway([&](net::Exchange& exchange) { return answer_removal(exchange, answer); });
  const store::test::TemporaryDirectory folder;
  const std::string file = (folder.path() / "proteus.toml").string();
  std::ofstream(file).flush();
  ::setenv("PROTEUS_ADMIN_SECRET", "the secret of the operators", 1);
  options.insert(options.begin(), {"connections", "remove", "c1", "--config", file, "--server",
                                   fmt::format("http://127.0.0.1:{}", gateway.port())});
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const ExitCode code = run(std::move(options));
  ::unsetenv("PROTEUS_ADMIN_SECRET");
  return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

// UPC-14
TEST(ConnectionsCommand, SaysThatATokenWasNotRevoked) {
  const auto failed = removed(R"("revoked":false,"last_error":"the server\nis away")");
  EXPECT_EQ(failed.code, ExitCode::problems);
  EXPECT_EQ(failed.out, "disconnected c1\n");
  EXPECT_THAT(failed.err, HasSubstr("was not revoked"));
  EXPECT_THAT(failed.err, HasSubstr(": the server is away\n"));
  const auto as_json = removed(R"("revoked":false,"last_error":"the server is away")", {"--json"});
  EXPECT_EQ(as_json.code, ExitCode::problems);
  EXPECT_THAT(as_json.out, HasSubstr(R"("revoked":false)"));
  EXPECT_THAT(as_json.err, HasSubstr("was not revoked"));
}

// UPC-14
TEST(ConnectionsCommand, SaysNothingOfAnEarlierErrorOnceTheTokenIsRevoked) {
  const auto done = removed(R"("revoked":true,"last_error":"of an earlier refresh")");
  EXPECT_EQ(done.code, ExitCode::done);
  EXPECT_EQ(done.out, "disconnected c1\n");
  EXPECT_THAT(done.err, Not(HasSubstr("revoked")));
}

}  // namespace
}  // namespace proteus::app
