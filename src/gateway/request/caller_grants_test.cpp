#include <mutex>

#include <gmock/gmock.h>

#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/session_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"

namespace proteus::gateway {
namespace {

using test::bearer;
using test::one_tool;
using test::Reaction;
using test::ScriptedUpstream;
using test::TestGateway;
using test::upstream_at;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kNoteTaken = R"({"resultType":"complete","content":[{"type":"text","text":"done"}]})";

Reaction tool_or_answer(const boost::json::object& message) {
  if (message.at("method") == "tools/list") return one_tool("note");
  return std::string(kNoteTaken);
}

// An upstream that each caller uses with a grant of their own.
class CallerGrants : public ::testing::Test {
 protected:
  explicit CallerGrants(ScriptedUpstream::Answer answer = tool_or_answer) : upstream_(std::move(answer)) {
    settings_ = upstream_at("notes", upstream_.port());
    settings_.authentication.type = providers::Authentication::Type::oauth;
    gateway_.emplace(std::vector{settings_},
                     TestGateway::Setup{.principals = {{.name = "ada", .token = Secret("token-of-ada")},
                                                       {.name = "bob", .token = Secret("token-of-bob")}}});
    gateway_->discover();
  }

  Grant grant(GrantOwner owner, std::string access) const {
    Grant made;
    made.owner = std::move(owner);
    made.owner_name = "somebody";
    made.target = target_of(settings_);
    made.upstream = "notes";
    made.server.issuer = "https://as.example";
    made.client.issuer = "https://as.example";
    made.client.id = "proteus";
    made.client.registered = auth::oauth::Registered::by_document;
    made.tokens.access_token = Secret(std::move(access));
    return made;
  }
  void connect(std::string_view name, std::string access, auth::oauth::Scopes scopes = {}) {
    const auto principal = gateway_->gateway.access()->principals->find_name(name);
    Grant made = grant(*owner_of(*principal), std::move(access));
    made.tokens.scopes = std::move(scopes);
    gateway_->run(gateway_->gateway.vault().put(std::move(made), "a test")).value();
  }
  providers::UpstreamSettings settings_;
  ScriptedUpstream upstream_;
  std::optional<TestGateway> gateway_;
};

// UPC-15, SEC-01
TEST_F(CallerGrants, SendsEachCallersOwnTokenAndNoOther) {
  EXPECT_THAT(upstream_.authorizations(), IsEmpty()) << "nobody has connected it yet";
  connect("ada", "of-ada");
  connect("bob", "of-bob");
  EXPECT_THAT(gateway_->tools(bearer("token-of-ada")), ElementsAre("notes_note"));
  EXPECT_THAT(upstream_.authorizations(), Each("Bearer of-ada"));
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(gateway_->call("notes_note", "{}", bearer("token-of-ada")).as_object().contains("result"));
  EXPECT_THAT(upstream_.authorizations(), Each("Bearer of-ada"));
  EXPECT_TRUE(gateway_->call("notes_note", "{}", bearer("token-of-bob")).as_object().contains("result"));
  EXPECT_EQ(upstream_.authorizations().back(), "Bearer of-bob");
  EXPECT_THAT(upstream_.authorizations(), Not(Contains(HasSubstr("token-of-"))));
}

// UPC-05, UPC-15
TEST_F(CallerGrants, SendsNothingForACallerWhoHasNotConnected) {
  connect("ada", "of-ada");
  const auto answer = gateway_->call("notes_note", "{}", bearer("token-of-bob"));
  EXPECT_THAT(std::string(answer.at("error").at("message").as_string()),
              HasSubstr("upstream notes: the caller has not connected this upstream"));
  EXPECT_THAT(upstream_.authorizations(), IsEmpty());
}

// UPC-15: a cached list of a per-user upstream is read with the gateway's own grant, or not at all.
TEST_F(CallerGrants, ReadsSharedListsAsTheGatewayAlone) {
  connect("ada", "of-ada");
  EXPECT_TRUE(gateway_->upstream("notes")->is_direct());
  gateway_->run(gateway_->gateway.vault().put(grant(gateway_owner(), "of-the-gateway"), "an operator")).value();
  test::wait_until([&] { return !gateway_->upstream("notes")->is_direct(); });
  gateway_->discover();
  EXPECT_THAT(gateway_->tools(bearer("token-of-bob")), ElementsAre("notes_note"));
  EXPECT_THAT(upstream_.authorizations(), Each("Bearer of-the-gateway"));
  EXPECT_TRUE(gateway_->call("notes_note", "{}", bearer("token-of-ada")).as_object().contains("result"));
  EXPECT_THAT(upstream_.authorizations(), Contains("Bearer of-ada").Times(1));
  EXPECT_TRUE(gateway_->call("notes_note", "{}", bearer("token-of-bob")).as_object().contains("error"));
  EXPECT_EQ(upstream_.received("tools/call").size(), 1U);
}

class ForbiddingGrants : public CallerGrants {
 protected:
  ForbiddingGrants()
      : CallerGrants([](const boost::json::object& message) -> Reaction {
          if (message.at("method") == "tools/call") return Reaction::refuse(403, "denied by host-7.internal");
          return tool_or_answer(message);
        }) {}
};

// PRX-09, PRX-21: the refusal counts like that of any other upstream.
TEST_F(ForbiddingGrants, TellTheCallerTheKindOfRefusalAndTheObserverAllOfIt) {
  std::mutex mutex;
  std::vector<std::string> seen;
  gateway_->gateway.service().set_observer([&](const UpstreamRequest& request) {
    const std::scoped_lock lock(mutex);
    if (request.call != nullptr) seen.push_back(request.error != nullptr ? request.error->message() : "");
  });
  connect("ada", "of-ada");
  const auto answer = gateway_->call("notes_note", "{}", bearer("token-of-ada"));
  EXPECT_EQ(answer.at("error").at("message"), "upstream notes does not allow the caller to make this request");
  const std::scoped_lock lock(mutex);
  EXPECT_THAT(seen, ElementsAre(HasSubstr("host-7.internal")));
}

class GreedyGrants : public CallerGrants {
 protected:
  GreedyGrants()
      : CallerGrants([](const boost::json::object& message) -> Reaction {
          if (message.at("method") == "tools/call")
            return Reaction::refuse(403, "no",
                                    "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"write\"\r\n");
          return tool_or_answer(message);
        }) {}
};

// UPC-10: the caller learns why nobody is asked for the scopes.
TEST_F(GreedyGrants, TellTheCallerThatTheScopesWereGranted) {
  connect("ada", "of-ada", {"write"});
  const auto answer = gateway_->call("notes_note", "{}", bearer("token-of-ada"));
  EXPECT_EQ(answer.at("error").at("message"), "upstream notes: it asks for scopes that were granted (write)");
}

class RefusingGrants : public CallerGrants {
 protected:
  RefusingGrants()
      : CallerGrants([](const boost::json::object& message) -> Reaction {
          if (message.at("method") == "tools/call")
            return Reaction::refuse(401, "no", "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n");
          return tool_or_answer(message);
        }) {}
};

// UPC-09: without a refresh token, a refused token cannot be replaced.
TEST_F(RefusingGrants, NeedASignInWhereATokenIsRefusedForGood) {
  connect("ada", "of-ada");
  const auto answer = gateway_->call("notes_note", "{}", bearer("token-of-ada"));
  EXPECT_TRUE(answer.as_object().contains("error"));
  EXPECT_EQ(gateway_->gateway.vault().all().front()->state, GrantState::needs_sign_in);
  EXPECT_EQ(upstream_.received("tools/call").size(), 1U);
  (void)gateway_->call("notes_note", "{}", bearer("token-of-ada"));
  EXPECT_EQ(upstream_.received("tools/call").size(), 1U) << "what is known to be refused is not sent";
}

// AUT-04, SEC-05: the session at the upstream is that of the former holder, with that holder's grant.
TEST(ConfiguredCallers, LeaveNothingForTheNextHolderOfTheirName) {
  test::SessionUpstream upstream;
  auto settings = upstream_at("up", upstream.port());
  settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  TestGateway gateway({settings}, {.principals = {{.name = "ada", .token = Secret("a")}}, .workers = 1});
  gateway.discover();
  const auto resources = [&](std::string_view token) {
    return boost::json::serialize(gateway.ask("resources/list", {}, {}, bearer(token)));
  };
  gateway.call("up_make", "{}", bearer("a"));
  test::wait_until([&] { return resources("a").contains("test://own"); });
  const std::vector<PrincipalSettings> next{{.name = "ada", .token = Secret("b")}};
  gateway.gateway.set_access({std::make_shared<const Principals>(next, Anonymous::refused), {}});
  EXPECT_THAT(resources("b"), HasSubstr("test://shared"));
  EXPECT_THAT(resources("b"), Not(HasSubstr("test://own")));
}

}  // namespace
}  // namespace proteus::gateway
