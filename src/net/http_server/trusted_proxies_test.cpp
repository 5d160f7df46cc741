#include "net/http_server/trusted_proxies.hpp"

#include <gtest/gtest.h>

namespace proteus::net {
namespace {

std::string client(std::string_view peer, std::string_view name, std::string_view value) {
  Fields fields;
  fields.add(name, value);
  return TrustedProxies({"10.0.0.0/8", "2001:db8::/32", "nonsense"}).client_of(peer, fields);
}

TEST(TrustedProxies, SayWhomARequestComesFrom) {
  EXPECT_EQ(client("10.1.2.3", "X-Forwarded-For", "192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(client("10.1.2.3", "X-Forwarded-For", "198.51.100.9, 192.0.2.1, 10.9.9.9"), "192.0.2.1")
      << "what stands before the nearest stranger is the stranger's word";
  EXPECT_EQ(client("10.1.2.3", "Forwarded", "for=198.51.100.9, For=\"192.0.2.1:4711\";proto=https"), "192.0.2.1");
  EXPECT_EQ(client("2001:db8::1", "Forwarded", "proto=http;for=\"[2a00::7]:80\""), "2a00::7");
}

TEST(TrustedProxies, NobodyElseIsBelieved) {
  EXPECT_EQ(client("192.0.2.9", "X-Forwarded-For", "192.0.2.1"), "192.0.2.9");
  EXPECT_EQ(client("10.1.2.3", "X-Forwarded-For", "unknown"), "10.1.2.3");
  EXPECT_EQ(client("10.1.2.3", "X-Forwarded-For", ""), "10.1.2.3");
  EXPECT_EQ(client("10.1.2.3", "Forwarded", "for=_hidden;by=10.0.0.1"), "10.1.2.3");
  EXPECT_EQ(client("10.1.2.3", "Forwarded", "for=\"[\""), "10.1.2.3");
  EXPECT_EQ(client("10.1.2.3", "X-Forwarded-For", "10.0.0.0/8"), "10.1.2.3");
  EXPECT_EQ(client("10.1.2.3", "X-Forwarded-For", std::string(5000, ',')), "10.1.2.3");
}

TEST(TrustedProxies, ALongChainEnds) {
  std::string chain = "192.0.2.1";
  for (int i = 0; i < 100; ++i)
    chain += ",10.0.0." + std::to_string(i);
  EXPECT_EQ(client("10.1.2.3", "X-Forwarded-For", chain), "10.0.0.84") << "the sixteenth";
}

// RFC 9110, 5.3. HAProxy adds a line of its own.
TEST(TrustedProxies, SeveralLinesAreOneList) {
  Fields fields;
  fields.add("X-Forwarded-For", "198.51.100.9");
  fields.add("Accept", "*/*");
  fields.add("x-forwarded-for", "192.0.2.2");
  fields.add("X-Forwarded-For", "10.9.9.9");
  EXPECT_EQ(TrustedProxies({"10.0.0.0/8"}).client_of("10.1.2.3", fields), "192.0.2.2");
  for (int i = 0; i < 100; ++i)
    fields.add("X-Forwarded-For", "198.51.100.198, 198.51.100.199, 198.51.100.200");
  EXPECT_EQ(TrustedProxies({"10.0.0.0/8"}).client_of("10.1.2.3", fields), "10.1.2.3") << "longer than is read";
}

// A proxy that sets one field passes on what the client says in the other.
TEST(TrustedProxies, FieldsThatContradictEachOtherAreIgnored) {
  Fields fields;
  fields.add("Forwarded", "for=198.51.100.9");
  fields.add("X-Forwarded-For", "192.0.2.2");
  EXPECT_EQ(TrustedProxies({"10.0.0.0/8"}).client_of("10.1.2.3", fields), "10.1.2.3");
  fields.add("Forwarded", "for=192.0.2.2");
  EXPECT_EQ(TrustedProxies({"10.0.0.0/8"}).client_of("10.1.2.3", fields), "192.0.2.2");
}

}  // namespace
}  // namespace proteus::net
