#include "redis/redis_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::redis {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RedisUrl, HasHostPortUserPasswordAndDatabase) {
  const auto url = RedisUrl::parse("redis://proteus:p%40ss%3A@cache.internal:7000/3").value();
  EXPECT_EQ(url.server.text(), "http://cache.internal:7000/");
  EXPECT_EQ(url.user, "proteus");
  EXPECT_EQ(url.password.reveal(), "p@ss:");
  EXPECT_EQ(url.database, 3U);
  EXPECT_EQ(url.shown(), "cache.internal:7000");
}

TEST(RedisUrl, HasDefaults) {
  for (const auto* text : {"redis://localhost", "redis://localhost/", "REDIS://localhost:6379/0"}) {
    const auto url = RedisUrl::parse(text).value();
    EXPECT_EQ(url.server.host(), "localhost");
    EXPECT_EQ(url.server.port(), 6379);
    EXPECT_TRUE(url.password.empty());
    EXPECT_EQ(url.database, 0U);
  }
  EXPECT_EQ(RedisUrl::parse("redis://[::1]")->server.port(), 6379);
  EXPECT_EQ(RedisUrl::parse("redis://[::1]:80")->server.port(), 80);
}

TEST(RedisUrl, TakesAPasswordWithoutAUser) {
  const auto url = RedisUrl::parse("redis://:word@localhost").value();
  EXPECT_EQ(url.user, "");
  EXPECT_EQ(url.password.reveal(), "word");
}

TEST(RedisUrl, IsOverTlsWithTwoLetters) {
  const auto url = RedisUrl::parse("rediss://localhost?sslrootcert=/etc/ca%20file.pem").value();
  EXPECT_TRUE(url.server.is_https());
  EXPECT_EQ(url.server.port(), 6379);
  EXPECT_EQ(url.authorities, "/etc/ca file.pem");
}

TEST(RedisUrl, SaysWhatIsNotSupported) {
  const auto fault = [](const char* text) { return RedisUrl::parse(text).error().message(); };
  EXPECT_THAT(fault("redis-sentinel://a:26379/mymaster"), HasSubstr("Sentinel, which is not supported"));
  EXPECT_THAT(fault("redis+sentinel://a"), HasSubstr("Sentinel, which is not supported"));
  EXPECT_THAT(fault("redis+cluster://a"), HasSubstr("Redis Cluster, which is not supported"));
  EXPECT_THAT(fault("rediss-cluster://a"), HasSubstr("Redis Cluster, which is not supported"));
  EXPECT_THAT(fault("redis://a:1,b:2"), HasSubstr("several hosts"));
  EXPECT_THAT(fault("unix:///run/redis.sock"), HasSubstr("Unix socket"));
  EXPECT_THAT(fault("redis-socket:///run/redis.sock"), HasSubstr("Unix socket"));
}

TEST(RedisUrl, SaysWhatIsWrong) {
  const auto fault = [](const char* text) { return RedisUrl::parse(text).error().message(); };
  EXPECT_THAT(fault(""), HasSubstr("is empty"));
  EXPECT_THAT(fault("localhost:6379"), HasSubstr("must look like redis://"));
  EXPECT_THAT(fault("http://localhost"), HasSubstr("must look like redis://"));
  EXPECT_THAT(fault("redis://"), HasSubstr("has no host"));
  EXPECT_THAT(fault("redis://:80"), HasSubstr("has no host"));
  EXPECT_THAT(fault("redis://a:99999"), HasSubstr("port that is none"));
  EXPECT_THAT(fault("redis://a/mine"), HasSubstr("number of a database"));
  EXPECT_THAT(fault("redis://a/1/2"), HasSubstr("number of a database"));
  EXPECT_THAT(fault("redis://a/-1"), HasSubstr("number of a database"));
  EXPECT_THAT(fault("redis://a?db=1"), HasSubstr("parameter that is not known"));
  EXPECT_THAT(fault("redis://a?sslrootcert=x"), HasSubstr("no TLS"));
  EXPECT_THAT(fault("redis://user@a"), HasSubstr("no password"));
}

TEST(RedisUrl, FaultsRepeatNoPassword) {
  for (const auto* text : {"redis://u:hush%zz@a", "redis://u:hush@a:99999", "redis://u:hush@a/x", "redis://u:hush@",
                           "x://u:hush@a", "redis://u:hush#@a", "redis-sentinel://u:hush@a", "redis://u:hush@a b"}) {
    const auto url = RedisUrl::parse(text);
    ASSERT_FALSE(url) << text;
    EXPECT_THAT(url.error().message(), Not(HasSubstr("hush"))) << text;
  }
}

}  // namespace
}  // namespace proteus::redis
