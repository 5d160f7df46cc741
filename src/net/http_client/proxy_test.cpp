#include "net/http_client/proxy.hpp"

#include <map>

#include <gtest/gtest.h>

namespace proteus::net {
namespace {

using Environment = std::map<std::string, std::string>;

Result<ProxySettings> settings_of(const Environment& environment) {
  return ProxySettings::from([&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  });
}

// Returns the origin of the proxy that `environment` selects for a URL, or "none".
std::string proxy_for(const Environment& environment, std::string_view url) {
  const ProxySettings settings = settings_of(environment).value();
  const Proxy* proxy = settings.find(Url::parse(url).value());
  return proxy ? std::string(proxy->url.origin()) : "none";
}

TEST(ProxySettings, FollowTheScheme) {
  const Environment both = {{"http_proxy", "http://a:1"}, {"HTTPS_PROXY", "http://b:2"}};
  EXPECT_EQ(proxy_for(both, "http://example.com"), "http://a:1");
  EXPECT_EQ(proxy_for(both, "https://example.com"), "http://b:2");
  EXPECT_EQ(proxy_for({}, "http://example.com"), "none");
  EXPECT_EQ(proxy_for({{"http_proxy", ""}}, "http://example.com"), "none");
}

TEST(ProxySettings, DoNotTrustWhatACgiClientCouldSet) {
  EXPECT_EQ(proxy_for({{"HTTP_PROXY", "http://a:1"}}, "http://example.com"), "none");
}

TEST(ProxySettings, FallBackToOneForAll) {
  EXPECT_EQ(proxy_for({{"ALL_PROXY", "a:1"}}, "http://example.com"), "http://a:1");
  EXPECT_EQ(proxy_for({{"ALL_PROXY", "a:1"}}, "https://example.com"), "http://a:1");
  EXPECT_EQ(proxy_for({{"ALL_PROXY", "a:1"}, {"all_proxy", "b:1"}}, "http://example.com"), "http://b:1");
  EXPECT_EQ(proxy_for({{"ALL_PROXY", "a:1"}, {"https_proxy", "https://b"}}, "https://example.com"), "https://b");
}

TEST(ProxySettings, CarryCredentials) {
  const auto settings = settings_of({{"http_proxy", "http://us%40er:pa:ss@proxy:3128/"}}).value();
  const Proxy* proxy = settings.find(Url::parse("http://example.com").value());
  ASSERT_TRUE(proxy);
  EXPECT_EQ(proxy->url.origin(), "http://proxy:3128");
  EXPECT_EQ(proxy->authorization, "Basic dXNAZXI6cGE6c3M=");
}

TEST(ProxySettings, RefuseWhatTheyCannotUseWithoutRepeatingIt) {
  for (const char* bad :
       {"socks5://user:hunter2@proxy", "http://user:hunter2@", "http://user:hunter2@a b", "http://%zz@p"}) {
    const auto settings = settings_of({{"https_proxy", bad}});
    ASSERT_FALSE(settings) << bad;
    EXPECT_EQ(settings.error().message(), "https_proxy must be a URL like http://user:password@host:port");
  }
}

TEST(ProxySettings, KnowTheirExceptions) {
  const Environment environment = {{"http_proxy", "a:1"},
                                   {"NO_PROXY", "example.com, .internal,10.0.0.1 [fd00::1],fd00::2,ported:8080,:,"}};
  const auto through = [&](std::string_view url) { return proxy_for(environment, url) != "none"; };
  EXPECT_FALSE(through("http://example.com"));
  EXPECT_FALSE(through("http://www.EXAMPLE.com:81"));
  EXPECT_TRUE(through("http://badexample.com"));
  EXPECT_FALSE(through("http://internal"));
  EXPECT_FALSE(through("http://db.internal"));
  EXPECT_FALSE(through("http://10.0.0.1"));
  EXPECT_TRUE(through("http://10.0.0.2"));
  EXPECT_FALSE(through("http://[fd00::1]:8000"));
  EXPECT_FALSE(through("http://[fd00::2]"));
  EXPECT_FALSE(through("http://ported:8080"));
  EXPECT_TRUE(through("http://ported"));
  EXPECT_EQ(proxy_for({{"http_proxy", "a:1"}, {"no_proxy", "*"}}, "http://example.com"), "none");
}

TEST(ProxySettings, KnowNetworksAmongTheirExceptions) {
  const Environment environment = {{"http_proxy", "a:1"}, {"no_proxy", "10.0.0.0/8,192.0.2.7/32 fd00::/8 1.2.3/8"}};
  const auto through = [&](std::string_view url) { return proxy_for(environment, url) != "none"; };
  EXPECT_FALSE(through("http://10.96.0.1:8080"));
  EXPECT_TRUE(through("http://11.0.0.1"));
  EXPECT_FALSE(through("http://192.0.2.7"));
  EXPECT_TRUE(through("http://192.0.2.8"));
  EXPECT_FALSE(through("http://[fd12::1]"));
  EXPECT_TRUE(through("http://[2001:db8::1]"));
  EXPECT_TRUE(through("http://10.example.com")) << "names are not looked up";
}

TEST(ProxySettings, NeverApplyToThisMachine) {
  for (const char* url :
       {"http://localhost:1", "http://127.0.0.1", "http://127.8.8.8", "http://[::1]", "http://a.localhost"}) {
    EXPECT_EQ(proxy_for({{"http_proxy", "a:1"}}, url), "none") << url;
  }
}

}  // namespace
}  // namespace proteus::net
