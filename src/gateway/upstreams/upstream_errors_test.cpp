#include "gateway/upstreams/upstream_errors.hpp"

#include <gmock/gmock.h>

#include "mcp/errors.hpp"

namespace proteus::gateway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kDetail = "10.1.2.3:8443 said <html>";

// PRX-09, PRX-21
TEST(UpstreamErrors, NameTheUpstreamAndTheKindOfFailureOnly) {
  for (const ErrorKind kind : {ErrorKind::unreachable, ErrorKind::timeout, ErrorKind::interrupted, ErrorKind::protocol,
                               ErrorKind::unavailable, ErrorKind::unauthenticated, ErrorKind::forbidden,
                               ErrorKind::not_found, ErrorKind::remote, ErrorKind::internal}) {
    const Error told = for_caller({kind, std::string(kDetail)}, "bank");
    EXPECT_EQ(told.kind(), kind);
    EXPECT_THAT(told.message(), StartsWith("upstream bank "));
    EXPECT_THAT(told.message(), Not(HasSubstr("10.1.2.3")));
    EXPECT_THAT(told.message(), Not(HasSubstr("html")));
  }
}

// PRX-09
TEST(UpstreamErrors, PassOnWhatTheUpstreamAnswered) {
  const Error told = for_caller(mcp::errors::remote(-32050, "no such account", R"({"n":1})"), "bank");
  EXPECT_EQ(told.rpc_code(), -32050);
  EXPECT_EQ(told.message(), "no such account");
  EXPECT_EQ(told.data(), R"({"n":1})");

  const Error failing = for_caller(errors::unavailable("boom").with_rpc_code(-32603).with_data("7"), "bank");
  EXPECT_EQ(failing.rpc_code(), -32603);
  EXPECT_EQ(failing.message(), "upstream bank: boom");
  EXPECT_EQ(failing.data(), "7");
}

// REF-29
TEST(UpstreamErrors, SayWhenToTryAgain) {
  const Error told = for_caller(errors::unavailable("HTTP 503").with_retry_after(std::chrono::seconds(20)), "bank");
  EXPECT_EQ(told.message(), "upstream bank cannot answer now; try again in 20 s");
}

}  // namespace
}  // namespace proteus::gateway
