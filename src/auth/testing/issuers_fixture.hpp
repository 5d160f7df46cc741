#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/issuers/token_verifier.hpp"
#include "auth/testing/fake_issuer.hpp"
#include "auth/testing/signing_key.hpp"
#include "base/testing/test_run.hpp"
#include "net/http_client/egress_rules.hpp"

// For tests: a verifier with one fake issuer and a manual clock.
namespace proteus::auth::test {

using namespace proteus::test;

inline const std::string kResource = "https://gateway.example/mcp";

class IssuersTest : public testing::Test {
 protected:
  IssuersTest()
      : rules_({.allow_loopback = true}),
        http_(std::make_unique<net::HttpClient>(
            io_, clock_, net::HttpClientOptions{.address_filter = [this](const auto& url, const auto& address) {
              return rules_.check(url, address);
            }})) {}

  void TearDown() override {
    if (verifier_) run(io_, verifier_->close());
    verifier_ = nullptr;
    http_ = nullptr;
  }

  IssuerSettings settings() const { return {.issuer = issuer_.url()}; }
  void use(std::vector<IssuerSettings> issuers) {
    if (verifier_) run(io_, verifier_->close());
    verifier_ = std::make_unique<TokenVerifier>(io_.get_executor(), *http_, clock_, std::move(issuers));
  }
  void use() { use({settings()}); }

  std::int64_t seconds(std::chrono::seconds from_now) const {
    return std::chrono::duration_cast<std::chrono::seconds>((clock_.wall() + from_now).time_since_epoch()).count();
  }
  boost::json::object claims() const {
    return {{"iss", issuer_.url()},
            {"sub", "mia"},
            {"aud", kResource},
            {"iat", seconds(std::chrono::seconds(0))},
            {"exp", seconds(std::chrono::minutes(5))},
            {"scope", "tools"}};
  }

  TokenVerifier::Verdict verify(const std::string& token) { return run(io_, verifier_->verify(Secret(token))); }
  // Returns the reason of the refusal; empty if the token is accepted.
  std::string refusal(const std::string& token) {
    const auto verdict = verify(token);
    return verdict ? "" : verdict.error().reason;
  }
  std::string use_refusal(const Identity& identity, TokenUse use) {
    if (use.audiences.empty()) use.audiences = {&kResource, 1};
    const auto checked = verifier_->check_use(identity, use);
    return checked ? "" : checked.error().reason;
  }

  boost::asio::io_context io_{1};
  ManualClock clock_;
  net::EgressRules rules_;
  std::unique_ptr<net::HttpClient> http_;
  FakeIssuer issuer_;
  std::unique_ptr<TokenVerifier> verifier_;
};

}  // namespace proteus::auth::test
