#include <future>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "auth/issuers/kept_by_token.hpp"
#include "auth/issuers/token_verifier.hpp"
#include "auth/testing/fake_issuer.hpp"
#include "auth/testing/signing_key.hpp"

namespace proteus::auth {
namespace {

std::int64_t in_seconds(std::int64_t from_now) {
  return std::chrono::duration_cast<std::chrono::seconds>(SystemClock().wall().time_since_epoch()).count() + from_now;
}

// Verifies a token at first sight, then finds it in a table of its own, which is cleared now and then.
Task<std::size_t> verify_often(TokenVerifier& verifier, std::string token, int times) {
  const SystemClock clock;
  KeptByToken<IdentityPointer> known(100);
  std::size_t accepted = 0;
  const json::Digest digest = json::sha256(token);
  for (int i = 0; i < times; ++i) {
    const auto* found = known.find(digest, clock.wall());
    if (found == nullptr) {
      const auto verdict = co_await verifier.verify(Secret(token));
      if (!verdict) continue;
      known.keep(digest, *verdict, (*verdict)->usable_until, clock.wall());
      found = known.find(digest, clock.wall());
    }
    const std::string audience = "resource";
    if (verifier.check_use(**found, {.token = token, .audiences = {&audience, 1}})) ++accepted;
    if (i % 10 == 9) known.clear();
  }
  co_return accepted;
}

// OAU-02, OAU-03: all threads share one fetch.
TEST(VerifierThreads, ShareKeysAndIntrospections) {
  test::FakeIssuer issuer;
  const auto& key = test::key_of(Algorithm::es256);
  issuer.publish({key.jwk()});
  const boost::json::object claims = {
      {"iss", issuer.url()}, {"sub", "mia"}, {"aud", "resource"}, {"exp", in_seconds(600)}, {"active", true}};
  issuer.answer(test::FakeIssuer::kIntrospection, {.body = boost::json::serialize(claims)});

  net::Workers workers(4);
  const SystemClock clock;
  net::HttpClient http(workers.at(0), clock, {});
  TokenVerifier verifier(workers.at(0).get_executor(), http, clock,
                         {{.issuer = issuer.url(), .introspection = {"gateway", Secret("s")}}});
  workers.run();
  std::vector<std::future<std::size_t>> outcomes;
  for (std::size_t i = 0; i < 40; ++i) {
    outcomes.push_back(boost::asio::co_spawn(workers.at(i % workers.size()),
                                             verify_often(verifier, i % 2 == 0 ? key.token(claims) : "opaque", 100),
                                             boost::asio::use_future));
  }
  for (auto& outcome : outcomes)
    EXPECT_EQ(outcome.get(), 100U);
  EXPECT_EQ(issuer.asked(test::FakeIssuer::kKeys), 1U);
  EXPECT_EQ(issuer.asked(test::FakeIssuer::kIntrospection), 1U);
  EXPECT_EQ(issuer.asked(test::FakeIssuer::kMetadata), 1U);
  boost::asio::co_spawn(workers.at(0), verifier.close(), boost::asio::use_future).get();
  net::run_on(workers.at(0), [&] { http.close(); });
  workers.stop();
  workers.join();
}

}  // namespace
}  // namespace proteus::auth
