#include "net/http_client/egress_rules.hpp"

#include <gtest/gtest.h>

namespace proteus::net {
namespace {

bool allows(const EgressSettings& settings, std::string_view address, std::string_view host = "host.example") {
  const auto url = Url::parse("http://" + std::string(host)).value();
  return EgressRules(settings).check(url, boost::asio::ip::make_address(std::string(address))).has_value();
}

TEST(EgressRules, LetPublicAddressesBeAsked) {
  for (const auto* address : {"1.1.1.1", "93.184.216.34", "2606:4700::1111", "172.32.0.1", "100.128.0.1"})
    EXPECT_TRUE(allows({}, address)) << address;
}

TEST(EgressRules, RefuseWhatLeadsInside) {
  for (const auto* address : {"127.0.0.1",       "127.9.9.9",       "::1",        "10.0.0.1",      "172.16.0.1",
                              "172.31.255.255",  "192.168.1.1",     "100.64.0.1", "fd12::1",       "fc00::1",
                              "169.254.169.254", "fe80::1",         "0.0.0.0",    "0.1.2.3",       "::",
                              "224.0.0.1",       "255.255.255.255", "ff02::1",    "fd00:ec2::254", "168.63.129.16"})
    EXPECT_FALSE(allows({}, address)) << address;
}

TEST(EgressRules, KnowAnIpv4AddressHoweverItIsWritten) {
  for (const auto* address : {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "::ffff:0:169.254.169.254",
                              "64:ff9b::169.254.169.254", "64:ff9b::10.0.0.1", "64:ff9b:1::127.0.0.1",
                              "64:ff9b:1:7f00:0:100::", "64:ff9b:1:ffff::1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
                              "::127.0.0.1", "2001:0:4136:e378:8000:63bf:80ff:fffe", "2606:4700::5efe:10.0.0.1",
                              "2606:4700::200:5efe:127.0.0.1", "fd00::5efe:1.1.1.1"})
    EXPECT_FALSE(allows({}, address)) << address;
  for (const auto* address : {"::ffff:1.1.1.1", "::ffff:0:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1",
                              "2606:4700::5efe:1.1.1.1", "2001:4860:4860::8888"})
    EXPECT_TRUE(allows({}, address)) << address;
  EXPECT_TRUE(allows({.allow = {"64:ff9b:1::/48"}}, "64:ff9b:1::8.8.8.8"));
}

TEST(EgressRules, AllowWhatTheSettingsAllow) {
  EXPECT_TRUE(allows({.allow_loopback = true}, "127.0.0.1"));
  EXPECT_FALSE(allows({.allow_loopback = true}, "10.0.0.1"));
  EXPECT_TRUE(allows({.allow_private = true}, "10.0.0.1"));
  EXPECT_TRUE(allows({.allow_private = true}, "::1"));
  EXPECT_FALSE(allows({.allow_private = true}, "169.254.169.254")) << "a metadata service is not a private host";
  EXPECT_TRUE(allows({.allow = {"169.254.169.254"}}, "169.254.169.254"));
  EXPECT_TRUE(allows({.allow = {"10.1.0.0/16"}}, "10.1.200.3"));
  EXPECT_TRUE(allows({.allow = {"10.1.0.0/16"}}, "::ffff:10.1.200.3"));
  EXPECT_FALSE(allows({.allow = {"10.1.0.0/16"}}, "10.2.0.1"));
  EXPECT_TRUE(allows({.allow = {"Tools.Internal"}}, "10.2.0.1", "tools.internal"));
  EXPECT_FALSE(allows({.allow = {"tools.internal"}}, "10.2.0.1", "other.internal"));
}

TEST(EgressRules, TellWhatTheyCanWithoutResolvingAName) {
  const EgressRules rules({});
  EXPECT_FALSE(rules.check(*Url::parse("http://127.0.0.1:9000/mcp")));
  EXPECT_FALSE(rules.check(*Url::parse("http://[::1]/mcp")));
  EXPECT_FALSE(rules.check(*Url::parse("http://LOCALHOST/mcp")));
  EXPECT_TRUE(rules.check(*Url::parse("http://tools.example/mcp")));
  const auto refused = rules.check(*Url::parse("http://10.0.0.1/"));
  EXPECT_EQ(refused.error().message(), "10.0.0.1 is private, and neither [egress] nor PROTEUS_EGRESS_ALLOW allows it");
  EXPECT_EQ(refused.error().kind(), ErrorKind::forbidden);
}

}  // namespace
}  // namespace proteus::net
