#include "gateway/sign_in/sign_in_desk.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/test_run.hpp"
#include "gateway/testing/silent_channel.hpp"
#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

const std::string kCompany = "https://company.example";

// A gateway with one upstream that is used by the word of an identity provider.
class SignInDeskTest : public ::testing::Test {
 protected:
  SignInDeskTest() {
    auto settings = test::upstream_at("chain", 1);
    settings.authentication.type = providers::Authentication::Type::oauth;
    settings.authentication.oauth.grant = providers::OAuthGrant::identity_assertion;
    gateway_.emplace(std::vector{settings},
                     test::TestGateway::Setup{
                         .principals = {{.name = "ada", .token = Secret("a")}}, .store = &store_, .clock = &clock_});
    desk_.emplace(SignInDesk::Dependencies{gateway_->gateway, gateway_->gateway.vault(), store_, clock_,
                                           [](std::string_view) { return std::nullopt; }},
                  key_);
  }

  GrantPointer sign_in(GrantOwner owner) {
    Grant identity;
    identity.owner = std::move(owner);
    identity.owner_name = "ada";
    identity.target = identity_target(kCompany);
    identity.server.issuer = kCompany;
    identity.tokens.id_token = Secret("the word of the provider");
    return gateway_->run(gateway_->gateway.vault().put(std::move(identity), "a test")).value();
  }

  ManualClock clock_;
  store::MemoryStore store_{{}};
  SealingKey key_ = SealingKey::random();
  std::optional<test::TestGateway> gateway_;
  std::optional<SignInDesk> desk_;
};

// UPC-05, UPC-11: the provider refuses what it said at the earlier sign-in.
TEST_F(SignInDeskTest, WaitsForAnotherSignInWhereTheEarlierOneDoesNotSuffice) {
  const GrantOwner ada(kCompany + "\nada");
  const auto earlier = sign_in(ada);
  Tickets tickets(key_, clock_);
  const auto issued = tickets.issue({.person = {Person::Kind::user, ada.value(), kCompany},
                                     .upstream = "chain",
                                     .connected_at = earlier->connected_at});
  boost::asio::io_context io;
  const server::Caller caller{.principal = "ada"};
  const mcp::Request request;
  SilentChannel channel(io.get_executor());
  server::Call call(request, caller, channel);
  call.rounds() = {.round = 1,
                   .answers = {{"connect", R"({"action":"accept"})"}},
                   .state = fmt::format("connect:1:{}:{}", issued->ticket.id, issued->text)};
  ::proteus::test::Started<std::optional<mcp::Outcome>> waiting(io, desk_->questions().come_back(call));
  ::proteus::test::settle(io);
  EXPECT_FALSE(waiting.is_done());
  clock_.advance(std::chrono::minutes(1));
  sign_in(ada);
  EXPECT_FALSE(waiting.finish()) << "the call goes on";
}

// UPC-07
TEST_F(SignInDeskTest, TellsWhoHasSignedInAtAnIdentityProviderThatTheirListsHaveChanged) {
  test::RawClient client(gateway_->port());
  client.request("POST", server::modern_fields("subscriptions/listen") + test::bearer("a"),
                 server::rpc("7", "subscriptions/listen",
                             R"("notifications":{"toolsListChanged":true},)" + server::modern_meta()));
  client.read_event();  // the acknowledgement
  sign_in(*owner_of(*gateway_->gateway.access()->principals->find_name("ada")));
  gateway_->gateway.end_streams();
  const auto told = client.read_event();
  ASSERT_TRUE(told);
  const auto message = told->json();
  const auto* method = message.as_object().if_contains("method");
  ASSERT_TRUE(method != nullptr) << told->data;
  EXPECT_EQ(*method, "notifications/tools/list_changed");
}

}  // namespace
}  // namespace proteus::gateway
