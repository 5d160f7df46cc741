#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"

// UIX-01, UIX-02: the files of the page are public and contain no data; its cookie counts only on requests of the page.
namespace proteus::admin {
namespace {

using namespace test;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class PageTest : public ::testing::Test {
 protected:
  std::string own_origin() { return fmt::format("Origin: http://127.0.0.1:{}\r\n", fixture.server.local_port()); }
  Reply sign_in(std::string_view secret, std::string_view fields) {
    return fixture.send("POST", "/ui/sign-in", boost::json::serialize(object{{"secret", secret}}), fields);
  }
  // Signs in, and keeps the cookie and the token as a browser would.
  void enter(std::string_view secret = kSecret) {
    const Reply entered = sign_in(secret, own_origin());
    ASSERT_EQ(entered.status, 200) << entered.body;
    const auto begin = entered.head.find("proteus-");
    cookie = "Cookie: " + entered.head.substr(begin, entered.head.find(';', begin) - begin) + "\r\n";
    token = fmt::format("X-Proteus-Token: {}\r\n", std::string_view(entered.json().at("token").as_string()));
  }
  Reply get(std::string_view path, std::string_view fields) {
    return fixture.send("GET", path, "", cookie + std::string(fields));
  }
  Reply change(std::string_view fields) {
    return fixture.send("POST", "/admin/upstreams", R"({"name":"x","url":"http://127.0.0.1:9/mcp"})",
                        cookie + std::string(fields));
  }

  static constexpr std::string_view kSameOrigin = "Sec-Fetch-Site: same-origin\r\n";

  store::MemoryStore memory;
  AdminFixture fixture{memory};
  std::string cookie;
  std::string token;
};

TEST_F(PageTest, UIX_01_IsServedCompressedWithStrictHeaders) {
  const Reply document = fixture.send("GET", "/ui", "", "");
  EXPECT_EQ(document.status, 200);
  EXPECT_EQ(document.body, "document");
  for (const char* line : {"default-src 'none'", "require-trusted-types-for 'script'", "frame-ancestors 'none'",
                           "nosniff", "Content-Encoding: gzip", "Cache-Control: no-cache"})
    EXPECT_THAT(document.head, HasSubstr(line));
  EXPECT_THAT(document.head, Not(HasSubstr("unsafe-inline")));
  EXPECT_EQ(fixture.send("GET", "/ui/upstreams/x", "", "").body, "document");
  net::RawClient again(fixture.server.local_port());
  again.send(fixture.head("GET", "/ui", "If-None-Match: \"2\"\r\n"));
  EXPECT_EQ(again.receive(true).status, 304);
  const Reply script = fixture.send("GET", "/ui/assets/main-1.js", "", "");
  EXPECT_THAT(script.head, HasSubstr("immutable"));
  EXPECT_EQ(fixture.send("GET", "/ui/assets/none.js", "", "").status, 404);
  EXPECT_EQ(fixture.send("DELETE", "/ui", "", "").status, 405);
}

TEST_F(PageTest, UIX_01_NobodyLooksWithoutSigningIn) {
  EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 401);
  EXPECT_EQ(get("/ui/session", kSameOrigin).status, 401);
  EXPECT_EQ(sign_in("wrong", own_origin()).status, 401);
  EXPECT_EQ(sign_in("", own_origin()).status, 401);
  enter();
  EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 200);
  EXPECT_EQ(get("/ui/session", kSameOrigin).json().at("role").as_string(), "admin");
}

TEST_F(PageTest, UIX_01_AViewerChangesNothing) {
  enter(kViewerSecret);
  EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 200);
  const Reply refused = change(own_origin() + token);
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("may only look"));
}

TEST_F(PageTest, UIX_02_TheCookieIsOutOfReachOfScripts) {
  const Reply entered = sign_in(kSecret, own_origin());
  EXPECT_THAT(entered.head, HasSubstr("HttpOnly; SameSite=Strict"));
  EXPECT_THAT(entered.head, HasSubstr("Path=/admin;"));
  EXPECT_THAT(entered.head, HasSubstr("Path=/ui;"));
  EXPECT_THAT(entered.head, HasSubstr("no-store"));
  EXPECT_THAT(entered.head + entered.body, Not(HasSubstr(std::string(kSecret))));
}

TEST_F(PageTest, UIX_02_TheCookieCountsOnlyOnRequestsOfThePage) {
  enter();
  const std::string port = std::to_string(fixture.server.local_port());
  EXPECT_EQ(get("/admin/upstreams", "").status, 403);
  EXPECT_EQ(get("/admin/upstreams", own_origin()).status, 200);
  for (const std::string& fields :
       {std::string("Sec-Fetch-Site: same-site\r\n"), std::string("Sec-Fetch-Site: cross-site\r\n"),
        std::string("Sec-Fetch-Site: none\r\n"), "Origin: http://127.0.0.1:1" + port + "\r\n",
        "Origin: https://127.0.0.1:" + port + "\r\n", "Origin: http://localhost:" + port + "\r\n",
        std::string("Origin: null\r\n"), std::string("Origin: http://127.0.0.1:1\r\n") + std::string(kSameOrigin),
        own_origin() + "Sec-Fetch-Site: same-site\r\n", std::string(kSameOrigin) + std::string(kSameOrigin)}) {
    EXPECT_EQ(get("/admin/upstreams", fields).status, 403) << fields;
    EXPECT_EQ(change(fields + token).status, 403) << fields;
    EXPECT_EQ(get("/ui/session", fields).status, 403) << fields;
    EXPECT_EQ(sign_in(kSecret, fields).status, 403) << fields;
  }
}

TEST_F(PageTest, UIX_02_AChangeNeedsTheToken) {
  enter();
  EXPECT_EQ(change(own_origin() + own_origin() + token).status, 400);
  EXPECT_EQ(change(own_origin()).status, 403);
  EXPECT_EQ(change(own_origin() + "X-Proteus-Token: guessed\r\n").status, 403);
  EXPECT_EQ(change(own_origin() + token + token).status, 403);
  EXPECT_EQ(change(own_origin() + token).status, 201);
  EXPECT_EQ(fixture.ask("GET", "/admin/audit").json().at("audit").at(0).at("who").as_string(), "admin");
}

TEST_F(PageTest, UIX_02_ASessionEndsWithItsKey) {
  enter(kOpsSecret);
  ASSERT_EQ(get("/admin/upstreams", kSameOrigin).status, 200);
  fixture.router.set_keys(AdminKeys({{"admin", Secret(std::string(kSecret))}}));
  EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 401);
  // Another key of the same name does not continue the session.
  fixture.router.set_keys(AdminKeys({{"ops", Secret(std::string("another"))}}));
  EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 401);
}

TEST_F(PageTest, UIX_02_ASessionEndsByItselfAndBySigningOut) {
  enter();
  fixture.clock.skip(59min);
  EXPECT_EQ(get("/ui/session", kSameOrigin).status, 200);
  fixture.clock.skip(2min);
  EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 401);
  enter();
  EXPECT_EQ(fixture.send("POST", "/ui/sign-out", "", cookie + own_origin()).status, 403);
  const Reply out = fixture.send("POST", "/ui/sign-out", "", cookie + own_origin() + token);
  EXPECT_EQ(out.status, 204);
  EXPECT_THAT(out.head, HasSubstr("Max-Age=0"));
  EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 401);
}

TEST_F(PageTest, UIX_02_AStreamEndsWithItsSession) {
  enter();
  net::RawClient live(fixture.server.local_port());
  live.send(fixture.head("GET", "/admin/changes", cookie + std::string(kSameOrigin) + "Accept: text/event-stream\r\n"));
  ASSERT_EQ(live.receive(true).status, 200);
  ASSERT_EQ(fixture.send("POST", "/ui/sign-out", "", cookie + own_origin() + token).status, 204);
  EXPECT_EQ(next_event(live), "");
}

TEST_F(PageTest, UIX_16_ACodeOfALinkSignsInOnceAndForAWhile) {
  const auto code = [&] {
    const std::string link = fixture.page.link_for(*fixture.router.auth().admit(kSecret));
    EXPECT_TRUE(link.starts_with("/ui/sign-in#")) << link;
    return boost::json::serialize(object{{"code", link.substr(link.find('#') + 1)}});
  };
  const auto enter_with = [&](const std::string& body, std::string_view fields) {
    return fixture.send("POST", "/ui/sign-in", body, fields).status;
  };
  const std::string first = code();
  EXPECT_EQ(enter_with(R"({"code":"guessed"})", own_origin()), 401);
  EXPECT_EQ(enter_with(R"({"code":""})", own_origin()), 401);
  EXPECT_EQ(enter_with(first, "Sec-Fetch-Site: cross-site\r\n"), 403);
  EXPECT_EQ(enter_with(first, own_origin()), 200);
  EXPECT_EQ(enter_with(first, own_origin()), 401);
  const std::string old = code();
  fixture.clock.skip(11min);
  EXPECT_EQ(enter_with(old, own_origin()), 401);
  const std::string of_a_key_that_went = code();
  fixture.router.set_keys(AdminKeys({{"ops", Secret(std::string("another"))}}));
  EXPECT_EQ(enter_with(of_a_key_that_went, own_origin()), 401);
}

TEST_F(PageTest, UIX_02_ForgedAndForeignCookiesAreNone) {
  enter();
  const std::string name = cookie.substr(8, cookie.find('=') - 8);
  const std::string good = cookie;
  for (const std::string value : {"", "x", "AAAA", "%%%"}) {
    cookie = fmt::format("Cookie: {}={}\r\n", name, value);
    EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 401) << value;
  }
  // Another server on the host may have set a cookie of the same name.
  cookie = fmt::format("Cookie: a=b; {}=x; {}", name, good.substr(8));
  EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 200);
}

// Tests with an operator whom an identity provider vouches for.
class VouchedTest : public PageTest {
 protected:
  VouchedTest() {
    fixture.router.set_vouching([this](std::string_view issuer) {
      return issuer == "https://id.example" ? std::optional(rules) : std::nullopt;
    });
    fixture.page.set_providers(
        {.issuers = [] { return std::vector<std::string>{"https://id.example"}; },
         .send = {},
         .take = [this](const net::Request&, std::string_view code) -> std::optional<Page::Providers::Arrived> {
           if (code != "arrived") return std::nullopt;
           return Page::Providers::Arrived{.holder = {.name = "ada",
                                                      .digest = rules,
                                                      .role = Role::admin,
                                                      .is_vouched_for = true,
                                                      .issuer = "https://id.example"},
                                           .path = "/ui/tools"};
         }});
    const Reply entered = fixture.send("POST", "/ui/sign-in", R"({"code":"arrived"})", own_origin());
    EXPECT_EQ(entered.status, 200) << entered.body;
    EXPECT_EQ(entered.json().at("path").as_string(), "/ui/tools");
    keep(entered);
  }
  void keep(const Reply& entered) {
    const auto begin = entered.head.find("proteus-");
    cookie = "Cookie: " + entered.head.substr(begin, entered.head.find(';', begin) - begin) + "\r\n";
    token = fmt::format("X-Proteus-Token: {}\r\n", std::string_view(entered.json().at("token").as_string()));
  }

  json::Digest rules = json::sha256("the rules");
};

TEST_F(VouchedTest, UIX_01_ActsUnderTheirOwnName) {
  EXPECT_EQ(get("/ui/session", kSameOrigin).json().at("name").as_string(), "ada");
  EXPECT_EQ(change(own_origin() + token).status, 201);
  EXPECT_THAT(get("/admin/audit", kSameOrigin).body, HasSubstr(R"("who":"ada")"));
  EXPECT_EQ(get("/ui/providers", kSameOrigin).body, R"({"issuers":["https://id.example"]})");
  EXPECT_EQ(get("/ui/providers", "Sec-Fetch-Site: cross-site\r\n").status, 403);
}

TEST_F(VouchedTest, UIX_02_EndsWithTheRules) {
  EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 200);
  rules = json::sha256("other rules");
  EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 401);
  EXPECT_EQ(get("/ui/session", kSameOrigin).status, 401);
}

TEST_F(VouchedTest, UIX_02_EndsAfterAnHourHoweverMuchItIsUsed) {
  fixture.clock.skip(50min);
  keep(get("/ui/session", kSameOrigin));
  fixture.clock.skip(9min);
  EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 200);
  fixture.clock.skip(2min);
  EXPECT_EQ(get("/admin/upstreams", kSameOrigin).status, 401);
}

}  // namespace
}  // namespace proteus::admin
