#include "gateway/sign_in/pages.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "gateway/sign_in/browser.hpp"

namespace proteus::gateway {
namespace {

constexpr std::string_view kHostile = "\"><script>alert('x')</script>&\xe2\x80\xae";

TEST(ConnectPages, EscapeWhatStrangersSay) {
  const std::vector<std::string> scopes = {std::string(kHostile)};
  const pages::Form form{kHostile, kHostile};
  const std::vector<pages::Connected> connected = {{std::string(kHostile), std::string(kHostile), std::string(kHostile),
                                                    std::string(kHostile), std::string(kHostile), scopes}};
  for (const std::string& page :
       {pages::message(kHostile, kHostile), pages::ask_for_identity(form, kHostile),
        pages::ask_for_secret(form, pages::Secret::token, kHostile), pages::ask_for_any(form, scopes, kHostile),
        pages::consent(form, {.person = kHostile,
                              .upstream = kHostile,
                              .url = kHostile,
                              .client = kHostile,
                              .gateway = kHostile,
                              .server = kHostile,
                              .client_id = kHostile,
                              .redirect_uri = kHostile,
                              .scopes = scopes}),
        pages::connections(form, kHostile, connected)}) {
    EXPECT_FALSE(page.contains("<script")) << page;
    EXPECT_FALSE(page.contains("\xe2\x80\xae"));
    EXPECT_TRUE(page.contains("&lt;script&gt;alert(&#39;x&#39;)"));
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
  }
}

TEST(ConnectPages, HaveNoScriptsAndNothingFromElsewhere) {
  EXPECT_TRUE(pages::fields().contains("default-src 'none'"));
  EXPECT_FALSE(pages::fields().contains("script-src"));
  EXPECT_FALSE(pages::fields().contains("unsafe"));
  EXPECT_FALSE(pages::message("a", "b").contains("http"));
}

class BrowsersTest : public ::testing::Test {
 protected:
  ManualClock clock_;
  Browsers browsers_{SealingKey::random(), clock_, [] { return Browsers::Scheme::https; }};
  const Browser browser_ = browsers_.begin(Person{Person::Kind::user, "ada", "https://id.example"}, "Ada");
  const std::string pair_ = browsers_.cookie(browser_).substr(0, browsers_.cookie(browser_).find(';'));
};

// UPC-06
TEST_F(BrowsersTest, AreKnownByTheirCookieForAWhile) {
  const auto found = browsers_.find("other=1; " + pair_ + "; more=2");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, browser_.id);
  EXPECT_TRUE(found->is({Person::Kind::user, "ada", "https://id.example"}));
  EXPECT_FALSE(found->is({Person::Kind::user, "ada"}));
  EXPECT_FALSE(found->is({Person::Kind::admin, "ada", "https://id.example"}));
  EXPECT_EQ(found->name, "Ada");
  clock_.advance(Browsers::kLifetime);
  EXPECT_FALSE(browsers_.find(pair_));
}

TEST_F(BrowsersTest, AreNotGuessed) {
  EXPECT_FALSE(browsers_.find(""));
  EXPECT_FALSE(browsers_.find("__Host-proteus_connect="));
  EXPECT_FALSE(browsers_.find(pair_ + "; " + pair_));
  EXPECT_FALSE(browsers_.find(pair_.substr(7)));
  Browsers others(SealingKey::random(), clock_, [] { return Browsers::Scheme::https; });
  EXPECT_FALSE(others.find(pair_));
}

TEST_F(BrowsersTest, TakeOnlyTheirOwnForms) {
  const std::string token = browsers_.form_token(browser_, "consent");
  EXPECT_TRUE(browsers_.is_own_form(browser_, "consent", token));
  EXPECT_FALSE(browsers_.is_own_form(browser_, "who", token));
  EXPECT_FALSE(browsers_.is_own_form(browsers_.begin(), "consent", token));
  EXPECT_FALSE(browsers_.is_own_form(browser_, "consent", ""));
}

}  // namespace
}  // namespace proteus::gateway
