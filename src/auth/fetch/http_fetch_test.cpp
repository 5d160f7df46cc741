#include "auth/fetch/http_fetch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/testing/fake_issuer.hpp"
#include "base/testing/test_run.hpp"

namespace proteus::auth {
namespace {

// UPC-13, UPC-18
class HttpFetchTest : public testing::Test {
 protected:
  Result<FetchAnswer> get(std::string_view path, Redirects redirects = Redirects::within_origin) {
    return proteus::test::run(
        io_, fetch_.fetch({.url = net::Url::parse(server_.url() + std::string(path)).value(), .redirects = redirects}));
  }

  boost::asio::io_context io_{1};
  ManualClock clock_;
  test::FakeIssuer server_;
  test::FakeIssuer other_;
  net::HttpClient http_{io_, clock_};
  HttpFetch fetch_{http_};
};

TEST_F(HttpFetchTest, FollowsRedirectsWithinTheOriginAFewTimes) {
  server_.answer("/a", {.status = 302, .location = "/b"});
  server_.answer("/b", {.body = "there"});
  EXPECT_EQ(get("/a")->body, "there");
  EXPECT_FALSE(get("/a", Redirects::refused));
  server_.answer("/loop", {.status = 307, .location = "/loop"});
  EXPECT_FALSE(get("/loop"));
  EXPECT_EQ(server_.asked("/loop"), 4U);
}

TEST_F(HttpFetchTest, GoesToNoOtherOrigin) {
  other_.answer("/b", {.body = "elsewhere"});
  server_.answer("/a", {.status = 302, .location = other_.url() + "/b"});
  EXPECT_FALSE(get("/a"));
  EXPECT_EQ(other_.asked("/b"), 0U);
}

TEST_F(HttpFetchTest, BoundsAnswers) {
  server_.answer("/huge", {.megabytes = 2});
  const auto huge = get("/huge");
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().kind(), ErrorKind::too_large);
  EXPECT_EQ(get("/none")->status, 404U);
}

// RFC 9110, section 11.6.1: a server may send a field for each scheme.
TEST_F(HttpFetchTest, ReadsAllChallenges) {
  server_.answer("/a", {.status = 401, .challenges = {"Basic realm=\"x\"", "Bearer scope=\"tools\""}});
  EXPECT_EQ(get("/a")->challenge, "Basic realm=\"x\", Bearer scope=\"tools\"");
  EXPECT_EQ(get("/none")->challenge, "");
}

}  // namespace
}  // namespace proteus::auth
