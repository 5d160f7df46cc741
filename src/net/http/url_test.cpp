#include "net/http/url.hpp"

#include <gtest/gtest.h>

namespace proteus::net {
namespace {

Url parsed(std::string_view text) {
  auto url = Url::parse(text);
  EXPECT_TRUE(url) << text << ": " << url.error().message();
  return url.value();
}

std::string fault_of(std::string_view text) {
  const auto url = Url::parse(text);
  EXPECT_FALSE(url) << text;
  return url ? "" : url.error().message();
}

TEST(Url, HasTheParts) {
  const Url url = parsed("https://api.example.com:8443/mcp/v1?x=1&y=%20#part");
  EXPECT_EQ(url.scheme(), "https");
  EXPECT_TRUE(url.is_https());
  EXPECT_EQ(url.host(), "api.example.com");
  EXPECT_EQ(url.port(), 8443);
  EXPECT_EQ(url.authority(), "api.example.com:8443");
  EXPECT_EQ(url.origin(), "https://api.example.com:8443");
  EXPECT_EQ(url.target(), "/mcp/v1?x=1&y=%20");
  EXPECT_EQ(url.text(), "https://api.example.com:8443/mcp/v1?x=1&y=%20");
}

TEST(Url, IsNormalized) {
  EXPECT_EQ(parsed("HTTP://Example.COM:80").text(), "http://example.com/");
  EXPECT_EQ(parsed("https://example.com:443?q").text(), "https://example.com/?q");
  EXPECT_EQ(parsed("http://example.com:/Path").text(), "http://example.com/Path");
  EXPECT_EQ(parsed("http://h:80/"), parsed("HTTP://H"));
}

TEST(Url, KnowsAddressLiterals) {
  const Url six = parsed("http://[::1]:9000/mcp");
  EXPECT_EQ(six.host(), "::1");
  EXPECT_EQ(six.authority(), "[::1]:9000");
  EXPECT_EQ(six.origin(), "http://[::1]:9000");
  EXPECT_EQ(parsed("http://[2001:DB8::1]").authority(), "[2001:db8::1]");
  EXPECT_EQ(parsed("http://127.0.0.1:1").host(), "127.0.0.1");
}

TEST(Url, RefusesWhatCannotBeRequested) {
  EXPECT_EQ(fault_of("ftp://example.com"), "URL 'ftp://example.com' must begin with http:// or https://");
  EXPECT_EQ(fault_of("/mcp"), "URL '/mcp' must begin with http:// or https://");
  EXPECT_EQ(fault_of(""), "URL '' must begin with http:// or https://");
  EXPECT_EQ(fault_of("http:///path"), "URL 'http:///path' has no host");
  EXPECT_EQ(fault_of("http:path"), "URL 'http:path' has no host");
  EXPECT_EQ(fault_of("http://:80/"), "URL 'http://:80/' has no host");
  EXPECT_EQ(fault_of("http://a b/"), "URL 'http://a b/' has a host that cannot be looked up");
  EXPECT_EQ(fault_of("http://h/\r\nX: y"), "URL 'http://h/\\x0d\\x0aX: y' is malformed");
  EXPECT_EQ(fault_of("http://[::1"), "URL 'http://[::1' is malformed");
  EXPECT_EQ(fault_of("http://[v1.x]/"), "URL 'http://[v1.x]/' has a host that cannot be looked up");
  EXPECT_EQ(fault_of("http://a%2eb/"), "URL 'http://a%2eb/' has a host that cannot be looked up");
  EXPECT_EQ(fault_of("http://h:0/"), "URL 'http://h:0/' has a port that is not between 1 and 65535");
  EXPECT_EQ(fault_of("http://h:65536/"), "URL 'http://h:65536/' has a port that is not between 1 and 65535");
  EXPECT_EQ(Url::parse("http://h/" + std::string(Url::kMaxBytes, 'a')).error().kind(), ErrorKind::too_large);
}

// The beginning of a host must not be taken for all of it, or the credential would go to another host.
TEST(Url, TakesTheWholeAuthority) {
  const Url name = parsed("http://127.0.0.1.nip.io:8443/mcp");
  EXPECT_EQ(name.host(), "127.0.0.1.nip.io");
  EXPECT_EQ(name.port(), 8443);
  EXPECT_EQ(name.target(), "/mcp");
  EXPECT_EQ(parsed("http://1.2.3.4x/").host(), "1.2.3.4x");
  EXPECT_EQ(parsed("http://1.2.3.4.5/").host(), "1.2.3.4.5");
  for (const auto* text : {"http://127.0.0.1:8443http://evil/",
                           "http://127.0.0.1:80.evil.example/",
                           "http://h:80:81/",
                           "http://[::1]x/",
                           "http://[::1]80/",
                           "http://[::1]:80x/",
                           "http://[::1].evil.example/",
                           "http://[]/",
                           "http://[::1]]/",
                           "http://h]/",
                           "http://[1.2.3.4]/",
                           "http://[fe80::1%25eth0]/",
                           "http://a\\b/",
                           "http://h\\@evil/",
                           "http://h,evil/",
                           "http://h;evil/",
                           "http://h/a\\b",
                           "http://h/%zz",
                           "http://h/%2",
                           "http://h/?a[b]",
                           "http://h/#a#b",
                           "http://h\t/",
                           "http://h/\x80"})
    fault_of(text);
  EXPECT_EQ(parsed("http://h//evil/").target(), "//evil/");
  EXPECT_EQ(parsed("http://h?x=//evil:1").authority(), "h");
  EXPECT_EQ(parsed("http://h#//evil:1").authority(), "h");
}

TEST(Url, RefusesCredentialsWithoutRepeatingThem) {
  EXPECT_EQ(fault_of("http://user:hunter2@h/"), "the URL must not hold a user name or password");
  EXPECT_EQ(fault_of("http://user@h/"), "the URL must not hold a user name or password");
  EXPECT_EQ(fault_of("ftp://user:hunter2@h/"), "the URL must begin with http:// or https://");
}

TEST(Url, ResolvesReferences) {
  const Url base = parsed("http://a:81/b/c/d;p?q");
  const auto resolved = [&](std::string_view reference) { return base.resolve(reference).value().text(); };
  EXPECT_EQ(resolved("g"), "http://a:81/b/c/g");
  EXPECT_EQ(resolved("./g/"), "http://a:81/b/c/g/");
  EXPECT_EQ(resolved("/g"), "http://a:81/g");
  EXPECT_EQ(resolved("//g"), "http://g/");
  EXPECT_EQ(resolved("?y"), "http://a:81/b/c/d;p?y");
  EXPECT_EQ(resolved("#s"), "http://a:81/b/c/d;p?q");
  EXPECT_EQ(resolved(""), "http://a:81/b/c/d;p?q");
  EXPECT_EQ(resolved("../../../g"), "http://a:81/g");
  EXPECT_EQ(resolved("./g:h"), "http://a:81/b/c/g:h");
  EXPECT_EQ(resolved("g/h:i"), "http://a:81/b/c/g/h:i");
  // The text before the colon might be taken for a scheme or a host.
  for (const auto* malformed : {".g:h", "1:2", ".nip.io:8443/mcp", ":h"})
    EXPECT_FALSE(base.resolve(malformed)) << malformed;
  EXPECT_EQ(resolved("../../.."), "http://a:81/");
  EXPECT_EQ(resolved("."), "http://a:81/b/c/");
  EXPECT_EQ(resolved("/./g//h/../i"), "http://a:81/g//i");
  EXPECT_EQ(resolved("g;x=1/../y"), "http://a:81/b/c/y");
  EXPECT_EQ(resolved("../g?x=/../y"), "http://a:81/b/g?x=/../y");
  EXPECT_EQ(resolved("https://other/x"), "https://other/x");
  EXPECT_FALSE(base.resolve("mailto:x@example.com"));
  EXPECT_FALSE(base.resolve("//user@g/"));
  EXPECT_FALSE(base.resolve("a b"));
}

}  // namespace
}  // namespace proteus::net
