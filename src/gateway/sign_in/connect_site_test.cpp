// UPC-03, UPC-06: the pages on which people connect upstreams.
#include <gtest/gtest.h>

#include "gateway/testing/connect_fixture.hpp"

namespace proteus::gateway {
namespace {

// UPC-06
TEST_F(ConnectTest, NothingIsShownBeforeItIsKnownWhoIsThere) {
  TestBrowser browser(*this);
  const auto page = browser.get(link_for_token("ada"));
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(page.body.contains("type=\"password\""));
  EXPECT_FALSE(page.body.contains("notes"));
  EXPECT_FALSE(page.body.contains("agent"));
  EXPECT_FALSE(page.body.contains("ada"));
  EXPECT_EQ(servers_.plans, 0);
}

// UPC-03, UPC-06
TEST_F(ConnectTest, AUserWithATokenConnects) {
  TestBrowser browser(*this);
  const std::string link = link_for_token("ada");
  browser.get(link);
  const auto known = browser.post(link, "secret=ada");
  EXPECT_EQ(known.status, 303);
  EXPECT_EQ(location(known), link);
  const auto consent = browser.get(link);
  EXPECT_TRUE(consent.body.contains("notes"));
  EXPECT_TRUE(consent.body.contains("&lt;b&gt;agent&lt;/b&gt;"));
  EXPECT_TRUE(consent.body.contains("https://as.example/authorize"));
  EXPECT_TRUE(consent.body.contains("<code>read</code>"));
  EXPECT_TRUE(consent.body.contains("the-client"));
  const std::string away = location(browser.post(link, "decision=allow"));
  EXPECT_TRUE(away.starts_with("https://as.example/authorize?")) << away;
  EXPECT_EQ(parameter(away, "code_challenge_method"), "S256");
  EXPECT_EQ(parameter(away, "resource"), "https://notes.example/mcp");
  EXPECT_EQ(end(), std::nullopt);
  const auto back = browser.get(callback(away, "gold"));
  EXPECT_EQ(back.status, 200) << back.body;
  EXPECT_TRUE(back.body.contains("close this page"));
  ASSERT_EQ(host_.kept.size(), 1U);
  EXPECT_EQ(host_.kept[0]->owner.value(), "ada");
  EXPECT_EQ(host_.kept[0]->tokens.access_token.reveal(), "gold");
  EXPECT_EQ(host_.kept[0]->issuer(), kServer);
  EXPECT_EQ(host_.kept[0]->target, target_of(host_.upstream("notes").value()));
  EXPECT_EQ(host_.kept[0]->asked, auth::oauth::Scopes{"read"});
  EXPECT_EQ(end(), SignInEnd::connected);
  EXPECT_EQ(host_.noted, std::vector<std::string>{"ada connection.approve"});
}

// UPC-06
TEST_F(ConnectTest, AnAccountOfAnIdentityProviderConnects) {
  TestBrowser browser(*this);
  const std::string link = link_for_account("cy");
  EXPECT_FALSE(browser.get(link).body.contains(R"(name="secret")"));
  const std::string there = location(browser.post(link, ""));
  EXPECT_TRUE(there.starts_with("https://id.example/authorize?")) << there;
  const auto known = browser.get(callback(there, "cy", kProvider));
  EXPECT_EQ(location(known), link) << known.body;
  browser.get(link);
  const std::string away = location(browser.post(link, "decision=allow"));
  EXPECT_NE(parameter(there, "redirect_uri"), parameter(away, "redirect_uri"));
  EXPECT_EQ(browser.get(callback(away, "gold")).status, 200);
  ASSERT_EQ(host_.kept.size(), 1U);
  EXPECT_EQ(host_.kept[0]->owner.value(), "cy");
}

// UPC-11: the identity assertion chain begins with the ID token of the identity provider, and users are sent nowhere
// else.
TEST_F(ConnectTest, WhatTheProviderSaysIsKeptAfterConsent) {
  TestBrowser browser(*this);
  const std::string link = link_for({Person::Kind::user, "cy", kProvider}, "chain");
  browser.get(link);
  const std::string there = location(browser.post(link, ""));
  EXPECT_EQ(location(browser.get(callback(there, "cy", kProvider))), link);
  EXPECT_TRUE(host_.kept.empty());
  EXPECT_TRUE(browser.get(link).body.contains("Your sign-in is shown to"));
  EXPECT_EQ(browser.post(link, "decision=allow").status, 200);
  ASSERT_EQ(host_.kept.size(), 1U);
  EXPECT_EQ(host_.kept[0]->target, identity_target(kProvider));
  EXPECT_EQ(host_.kept[0]->owner.value(), "cy");
  EXPECT_EQ(host_.kept[0]->tokens.id_token.reveal(), "the word of the provider about cy");
  EXPECT_TRUE(host_.kept[0]->tokens.access_token.empty());
  EXPECT_EQ(end(), SignInEnd::connected);
  EXPECT_EQ(host_.noted, std::vector<std::string>{"cy connection.approve"});
}

// UPC-04
TEST_F(ConnectTest, AnOperatorConnectsForTheGatewayWithTheKeyThatAsked) {
  TestBrowser browser(*this);
  const std::string link = link_for({Person::Kind::admin, "root"});
  browser.get(link);
  EXPECT_EQ(browser.post(link, "secret=ada").status, 403);
  EXPECT_EQ(browser.post(link, "secret=root").status, 303);
  browser.get(link);
  browser.get(callback(location(browser.post(link, "decision=allow")), "gold"));
  ASSERT_EQ(host_.kept.size(), 1U);
  EXPECT_EQ(host_.kept[0]->owner, gateway_owner());
}

// UPC-06: phishing. Another user opens a user's link and signs in as themselves.
TEST_F(ConnectTest, TheLinkOfAnotherConnectsNothing) {
  TestBrowser victim(*this);
  const std::string link = link_for_token("ada");
  victim.get(link);
  const auto page = victim.post(link, "secret=bo");
  EXPECT_EQ(page.status, 403);
  EXPECT_FALSE(page.body.contains("notes"));
  EXPECT_EQ(victim.post(link, "decision=allow").status, 403);
  TestBrowser account(*this);
  const std::string theirs = link_for_account("cy");
  account.get(theirs);
  const std::string there = location(account.post(theirs, ""));
  EXPECT_EQ(account.get(callback(there, "di", kProvider)).status, 403);
  EXPECT_TRUE(account.get(theirs).body.contains("Who is connecting?"));
  EXPECT_TRUE(host_.kept.empty());
  EXPECT_EQ(servers_.plans, 0);
}

// UPC-06: phishing. A browser that is known as another person is asked again, and not let in.
TEST_F(ConnectTest, WhoIsKnownAsAnotherIsNotLetIn) {
  TestBrowser browser(*this);
  const std::string own = link_for_token("bo");
  browser.get(own);
  browser.post(own, "secret=bo");
  EXPECT_TRUE(browser.get(own).body.contains("Connect notes?"));
  EXPECT_FALSE(browser.get(link_for_token("ada")).body.contains("notes"));
}

// UPC-03, UPC-06: phishing. Another browser opens a user's authorization URL.
TEST_F(ConnectTest, TheWayBackOfAnotherBrowserConnectsNothing) {
  TestBrowser attacker(*this);
  const std::string away = depart(attacker, link_for_token("ada"), "ada");
  TestBrowser victim(*this);
  const std::string own = link_for_token("bo");
  victim.get(own);
  victim.post(own, "secret=bo");
  EXPECT_EQ(victim.get(callback(away, "victims-code")).status, 400);
  TestBrowser stranger(*this);
  EXPECT_EQ(stranger.get(callback(away, "victims-code")).status, 400);
  EXPECT_TRUE(host_.kept.empty());
  EXPECT_EQ(servers_.redeemed, 0);
  // The callback still works for the browser that departed.
  EXPECT_EQ(attacker.get(callback(away, "own-code")).status, 200);
}

// UPC-03
TEST_F(ConnectTest, ACallbackWorksOnceAndInTime) {
  TestBrowser browser(*this);
  const std::string away = depart(browser, link_for_token("ada"), "ada");
  EXPECT_EQ(browser.get(callback(away, "one")).status, 200);
  EXPECT_EQ(browser.get(callback(away, "two")).status, 400);
  EXPECT_EQ(servers_.redeemed, 1);
  const std::string again = depart(browser, link_for_token("bo"), "bo");
  clock_.advance(std::chrono::minutes(10));
  EXPECT_EQ(browser.get(callback(again, "late")).status, 400);
  EXPECT_EQ(browser.get(host_.url + "/oauth/callback/" + issuer_name(kServer) + "?state=foreign&code=x").status, 400);
  EXPECT_EQ(servers_.redeemed, 1);
  EXPECT_EQ(host_.kept.size(), 1U);
}

// UPC-02, UPC-03: mix-up. A code goes only to the issuer that was asked for it.
TEST_F(ConnectTest, AnotherIssuersAnswerConnectsNothing) {
  TestBrowser browser(*this);
  const std::string away = depart(browser, link_for_token("ada"), "ada");
  EXPECT_EQ(browser.get(callback(away, "gold", "https://evil.example")).status, 400);
  EXPECT_EQ(end(), SignInEnd::failed);
  const std::string again = depart(browser, link_for_token("ada"), "ada");
  std::string elsewhere = callback(again, "gold");
  elsewhere.replace(elsewhere.find(issuer_name(kServer)), 32, issuer_name("https://evil.example"));
  EXPECT_EQ(browser.get(elsewhere).status, 400);
  const std::string silent = depart(browser, link_for_token("ada"), "ada");
  EXPECT_EQ(browser
                .get(fmt::format("{}?state={}&code=gold", parameter(silent, "redirect_uri"),
                                 auth::form_encoded(parameter(silent, "state"))))
                .status,
            400);
  EXPECT_EQ(servers_.redeemed, 0);
  EXPECT_TRUE(host_.kept.empty());
}

// UPC-03: nor does it say anything about the server that was asked.
TEST_F(ConnectTest, AnotherIssuersErrorIsNotTheServers) {
  TestBrowser browser(*this);
  for (const char* const error : {"invalid_client", "access_denied"}) {
    const std::string away = depart(browser, link_for_token("ada"), "ada");
    const auto refused =
        browser.get(fmt::format("{}?state={}&error={}&iss=https://evil.example", parameter(away, "redirect_uri"),
                                auth::form_encoded(parameter(away, "state")), error));
    EXPECT_EQ(refused.status, 400);
    EXPECT_TRUE(servers_.back.empty()) << error;
    EXPECT_EQ(end(), SignInEnd::failed) << error;
  }
}

// UPC-05
TEST_F(ConnectTest, WhoDeclinesConnectsNothingAndTheLinkIsUsedUp) {
  TestBrowser browser(*this);
  const std::string link = link_for_token("ada");
  browser.get(link);
  browser.post(link, "secret=ada");
  browser.get(link);
  EXPECT_EQ(browser.post(link, "decision=deny").status, 200);
  EXPECT_EQ(end(), SignInEnd::declined);
  EXPECT_EQ(browser.get(link).status, 404);
  const std::string away = depart(browser, link_for_token("ada"), "ada");
  const auto refused =
      browser.get(fmt::format("{}?state={}&error=access_denied&iss={}", parameter(away, "redirect_uri"),
                              auth::form_encoded(parameter(away, "state")), kServer));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(servers_.back, std::vector<std::string>{"access_denied"});
  EXPECT_EQ(end(), SignInEnd::declined);
  EXPECT_TRUE(host_.kept.empty());
}

// UPC-06: a GET changes nothing, and forms of other browsers are refused.
TEST_F(ConnectTest, OnlyFormsOfThisBrowserAreTaken) {
  TestBrowser browser(*this);
  const std::string link = link_for_token("ada");
  browser.get(link);
  browser.post(link, "secret=ada");
  EXPECT_EQ(browser.get(link + "?decision=allow").status, 200);
  EXPECT_EQ(end(), std::nullopt);
  TestBrowser other(*this);
  other.get(link);
  other.set_cookie(browser.cookie());
  EXPECT_EQ(other.post(link, "decision=allow").status, 403);
  EXPECT_EQ(end(), std::nullopt);
}

// UPC-06: consent covers only what was shown.
TEST_F(ConnectTest, ConsentIsNoneToSomethingElse) {
  TestBrowser browser(*this);
  const std::string link = link_for_token("ada");
  browser.get(link);
  browser.post(link, "secret=ada");
  browser.get(link);
  servers_.scopes = {"read", "delete"};
  EXPECT_EQ(browser.post(link, "decision=allow").status, 403);
  EXPECT_TRUE(browser.get(link).body.contains("delete"));
  EXPECT_EQ(browser.post(link, "decision=allow").status, 303);
}

// UPC-06: neither is it consent to another upstream that has taken over the name.
TEST_F(ConnectTest, ConsentIsNoneToAnotherUpstreamOfTheName) {
  TestBrowser browser(*this);
  const std::string link = link_for_token("ada");
  browser.get(link);
  browser.post(link, "secret=ada");
  browser.get(link);
  host_.upstream_url = "https://other.example/mcp";
  EXPECT_EQ(browser.post(link, "decision=allow").status, 403);
}

// UPC-08: another upstream takes over the name while a user is at the authorization server.
TEST_F(ConnectTest, AnotherUpstreamOfTheNameGetsNothing) {
  TestBrowser browser(*this);
  const std::string away = depart(browser, link_for_token("ada"), "ada");
  host_.upstream_url = "https://other.example/mcp";
  EXPECT_EQ(browser.get(callback(away, "gold")).status, 409);
  EXPECT_TRUE(host_.kept.empty());
  EXPECT_EQ(end(), SignInEnd::failed);
}

// UPC-06
TEST_F(ConnectTest, TokensAreTriedSoOften) {
  TestBrowser browser(*this);
  const std::string link = link_for_token("ada");
  browser.get(link);
  for (unsigned i = 0; i < Attempts::kPerMinute; ++i)
    EXPECT_EQ(browser.post(link, "secret=guess").status, 403);
  EXPECT_EQ(browser.post(link, "secret=ada").status, 429);
  clock_.advance(std::chrono::seconds(59));
  EXPECT_EQ(browser.post(link, "secret=ada").status, 429);
  clock_.advance(std::chrono::seconds(1));
  // The limit is the same in later minutes.
  for (unsigned i = 0; i < Attempts::kPerMinute; ++i)
    EXPECT_EQ(browser.post(link, "secret=guess").status, 403);
  clock_.advance(std::chrono::seconds(59));
  EXPECT_EQ(browser.post(link, "secret=ada").status, 429);
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(browser.post(link, "secret=ada").status, 303);
}

TEST_F(ConnectTest, PagesCannotBeFramedAndCookiesAreForTheBrowserAlone) {
  TestBrowser browser(*this);
  const auto page = browser.get(link_for_token("ada"));
  EXPECT_TRUE(page.head.contains("frame-ancestors 'none'"));
  EXPECT_TRUE(page.head.contains("default-src 'none'"));
  EXPECT_TRUE(browser.set_cookie_line.starts_with("proteus_connect="));
  EXPECT_TRUE(browser.set_cookie_line.contains("; HttpOnly; SameSite=Lax"));
  EXPECT_FALSE(browser.set_cookie_line.contains("Secure"));
  host_.url = "https://gateway.example";
  TestBrowser secured(*this);
  secured.get(link_for_token("ada"));
  EXPECT_TRUE(secured.set_cookie_line.starts_with("__Host-proteus_connect="));
  EXPECT_TRUE(secured.set_cookie_line.contains("; Path=/; "));
  EXPECT_TRUE(secured.set_cookie_line.ends_with("; Secure"));
}

// UPC-14
TEST_F(ConnectTest, UsersSeeAndEndTheirOwnConnections) {
  TestBrowser browser(*this);
  browser.get(callback(depart(browser, link_for_token("ada"), "ada"), "gold"));
  Grant renamed = *host_.kept[0];
  renamed.id = "c1";
  host_.kept[0] = std::make_shared<const Grant>(renamed);
  const std::string mine = host_.url + "/connect";
  TestBrowser other(*this);
  EXPECT_TRUE(other.get(mine).body.contains("Who are you?"));
  other.post(mine, "secret=bo");
  EXPECT_TRUE(other.get(mine).body.contains("Nothing is connected."));
  other.get(callback(depart(other, link_for_token("bo"), "bo"), "silver"));
  other.get(mine);
  EXPECT_EQ(other.post(mine, "disconnect=c1").status, 404);
  EXPECT_TRUE(browser.get(mine).body.contains("Disconnect notes"));
  EXPECT_EQ(browser.post(mine, "disconnect=c1").status, 303);
  ASSERT_EQ(host_.kept.size(), 1U);
  EXPECT_EQ(host_.kept[0]->owner.value(), "bo");
}

// UPC-14
TEST_F(ConnectTest, UsersAreToldIfATokenMayStillWork) {
  TestBrowser browser(*this);
  browser.get(callback(depart(browser, link_for_token("ada"), "ada"), "gold"));
  host_.not_revoked = "the authorization server offers no revocation";
  const std::string mine = host_.url + "/connect";
  browser.get(mine);
  const auto ended = browser.post(mine, "disconnect=" + host_.kept[0]->id);
  EXPECT_EQ(ended.status, 200);
  EXPECT_TRUE(ended.body.contains("was not revoked: the authorization server offers no revocation."));
  EXPECT_TRUE(host_.kept.empty());
}

// UPC-02
TEST_F(ConnectTest, TheClientDocumentIsServedWhereItCanBeRead) {
  TestBrowser server(*this);
  const std::string path = "/oauth/client/" + issuer_name(kServer) + ".json";
  EXPECT_EQ(server.get(path).status, 404);
  host_.url = "https://gateway.example";
  const auto document = server.get(path);
  EXPECT_EQ(document.status, 200);
  EXPECT_TRUE(document.body.contains("https://gateway.example" + path)) << document.body;
  EXPECT_TRUE(document.body.contains("https://gateway.example/oauth/callback/" + issuer_name(kServer)));
  EXPECT_EQ(server.get("/oauth/client/other.json").status, 404);
}

}  // namespace
}  // namespace proteus::gateway
