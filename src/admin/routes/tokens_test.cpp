// OAU-14: tokens that operators make while the gateway runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/token_fixture.hpp"

namespace proteus::admin {
namespace {

using namespace test;
using boost::json::array;
using server::LegacyClient;
using server::modern_fields;
using server::modern_meta;
using server::RawClient;
using server::rpc;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(Tokens, AreMadeUsedAndShownWithoutTheirSecrets) {
  const auto reply = create({{"name", "ci"}, {"upstreams", array{"bank"}}, {"contexts", array{"", "work"}}});
  EXPECT_EQ(reply.status, 201);
  EXPECT_THAT(reply.head, HasSubstr("Location: /admin/tokens/ci\r\n"));
  EXPECT_THAT(reply.head, HasSubstr("Cache-Control: no-store\r\n"));
  const std::string secret = secret_in(reply);
  EXPECT_THAT(secret, ::testing::StartsWith("proteus_"));
  EXPECT_GE(secret.size(), 40U);
  EXPECT_EQ(status_for(secret), 200);
  EXPECT_EQ(status_for(secret, "/mcp/work"), 200);
  EXPECT_EQ(status_for(secret + "x"), 401);
  EXPECT_EQ(status_for("ci"), 401);

  const auto listed = fixture.ask("GET", "/admin/tokens");
  EXPECT_THAT(listed.body, Not(HasSubstr(secret)));
  const value one = listed.json().at("tokens").at(0);
  EXPECT_EQ(one.at("name"), "ci");
  EXPECT_EQ(one.at("origin"), "runtime");
  EXPECT_EQ(one.at("state"), "active");
  EXPECT_EQ(boost::json::serialize(one.at("upstreams")), R"(["bank"])");
  EXPECT_EQ(boost::json::serialize(one.at("contexts")), R"(["","work"])");
  EXPECT_TRUE(one.as_object().contains("last_used_at"));
  EXPECT_FALSE(one.as_object().contains("expires_at"));
  EXPECT_FALSE(one.as_object().contains("token"));
  EXPECT_EQ(shown("ci"), one);
  const auto audit = fixture.ask("GET", "/admin/audit");
  EXPECT_EQ(audit.json().at("audit").at(0).at("what"), "token.create");
  EXPECT_EQ(audit.json().at("audit").at(0).at("who"), "admin");
  EXPECT_THAT(audit.body, Not(HasSubstr(secret)));
}

// AUT-02
TEST_F(Tokens, UseOnlyWhatTheyMay) {
  const std::string secret = made({{"name", "ci"}, {"upstreams", array{"other"}}, {"contexts", array{"work"}}});
  EXPECT_EQ(status_for(secret), 404) << "not the plain endpoint";
  RawClient client(fixture.server.local_port(), "/mcp/work");
  const auto listed = client.request("POST", modern_fields("tools/list") + gateway::test::bearer(secret),
                                     rpc("1", "tools/list", modern_meta()));
  EXPECT_THAT(listed.json().at("result").at("tools").as_array(), IsEmpty());
  EXPECT_EQ(listed.json().at("result").at("cacheScope"), "private");
}

// OAU-07, OAU-14
TEST_F(Tokens, UseOnlyTheToolsTheyMay) {
  const auto tools_of = [this](const std::string& secret) {
    RawClient client(fixture.server.local_port());
    const value answer = client
                             .request("POST", modern_fields("tools/list") + gateway::test::bearer(secret),
                                      rpc("1", "tools/list", modern_meta()))
                             .json();
    std::vector<std::string> names;
    for (const auto& tool : answer.at("result").at("tools").as_array())
      names.emplace_back(tool.at("name").as_string());
    return names;
  };
  EXPECT_THAT(tools_of(made({{"name", "all"}})), ElementsAre("bank_ping", "bank_wait"));
  EXPECT_THAT(tools_of(made({{"name", "one"}, {"tools", array{"bank_p*"}}})), ElementsAre("bank_ping"));
  EXPECT_THAT(tools_of(made({{"name", "other"}, {"deny", array{"bank_ping"}}})), ElementsAre("bank_wait"));
  EXPECT_THAT(tools_of(made({{"name", "reader"}, {"read_only", true}})), IsEmpty());
  EXPECT_EQ(shown("reader").at("read_only"), true);
  EXPECT_EQ(boost::json::serialize(shown("other").at("deny")), R"(["bank_ping"])");
  const std::string limited = made({{"name", "limited"}, {"requests_per_minute", 1}});
  EXPECT_EQ(status_for(limited), 200);
  EXPECT_EQ(status_for(limited), 429);

  gateway::TokenRegistry again({fixture.workers.at(0), fixture.gateway, store, fixture.clock});
  ASSERT_TRUE(fixture.run(again.load()));
  EXPECT_TRUE(again.find("reader")->keys.read_only);
  EXPECT_THAT(again.find("one")->keys.tools, ElementsAre("bank_p*"));
  EXPECT_EQ(again.find("limited")->keys.requests_per_minute, 1U);
}

TEST_F(Tokens, AreRefusedWithEachFault) {
  refuse_strangers({{.name = "filed", .token = Secret("of-the-file")}});
  create({{"name", "ci"}});
  EXPECT_EQ(create({{"name", "ci"}}).status, 409);
  EXPECT_EQ(create({{"name", "filed"}}).status, 409);
  EXPECT_EQ(rotate("filed").status, 409);
  EXPECT_EQ(revoke("filed").status, 409);
  EXPECT_EQ(shown("filed").at("origin"), "file");
  EXPECT_EQ(rotate("nobody").status, 404);
  EXPECT_EQ(revoke("nobody").status, 404);
  EXPECT_EQ(fixture.ask("GET", "/admin/tokens/nobody").status, 404);
  EXPECT_EQ(fixture.ask("POST", "/admin/tokens", "[]").status, 400);
  EXPECT_EQ(fixture.ask("POST", "/admin/tokens").status, 400);
  const auto faulty = create({{"name", "a b"},
                              {"contexts", array{"nowhere"}},
                              {"upstreams", array{""}},
                              {"expires", "2020-01-01T00:00:00Z"},
                              {"token", "chosen"}});
  EXPECT_EQ(faulty.status, 400);
  std::vector<std::string> pointers;
  for (const auto& fault : faulty.json().at("errors").as_array())
    pointers.emplace_back(fault.at("pointer").as_string());
  EXPECT_THAT(pointers, ::testing::UnorderedElementsAre("/name", "/contexts/0", "/upstreams/0", "/expires", "/token"));
  EXPECT_EQ(create({{"name", "x"}, {"expires", "soon"}}).status, 400);
  EXPECT_EQ(rotate("ci", R"({"overlap":"31d"})").status, 400);
  EXPECT_EQ(rotate("ci", R"({"overlap":5})").status, 400);
  EXPECT_THAT(fixture.ask("GET", "/admin/tokens").json().at("tokens").as_array(), SizeIs(2));
}

TEST_F(Tokens, EndWhatIsOpenWhenTheyAreRevoked) {
  const std::string secret = made({{"name", "ci"}});
  const std::string other = made({{"name", "other"}});
  const auto stream = listen(secret);
  const auto kept = listen(other);
  const auto running_call = call(secret);
  LegacyClient legacy(fixture.server.local_port(), "2025-11-25", "{}", gateway::test::bearer(secret));
  RawClient standing(fixture.server.local_port());
  EXPECT_EQ(standing.request("GET", legacy.fields()).status, 200);
  legacy.client.send_request("POST", legacy.fields(), rpc("6", "tools/call", R"("name":"bank_wait")"));
  wait_until([&] { return running == 2; });

  const auto revoked = revoke("ci");
  EXPECT_EQ(revoked.status, 200);
  EXPECT_EQ(revoked.json().at("state"), "revoked");
  EXPECT_EQ(status_for(secret), 401);
  expect_end(*stream);
  EXPECT_FALSE(standing.read_event());
  for (RawClient* client : {running_call.get(), &legacy.client}) {
    const auto answer = client->read_answer();
    const auto event = answer.body.empty() ? client->read_event() : std::nullopt;
    const value message = event ? event->json() : answer.json();
    EXPECT_EQ(message.at("error").at("message"), "the token was revoked: the request was cancelled");
  }
  wait_until([&] { return cancelled == 2; });
  EXPECT_EQ(fixture.ask("GET", "/admin/tokens/ci").status, 404);
  EXPECT_EQ(audited().front(), "token.revoke");

  EXPECT_EQ(status_for(other), 200);
  fixture.ask("DELETE", "/admin/upstreams/bank");
  EXPECT_EQ(kept->read_event()->json().at("method"), "notifications/tools/list_changed");
}

// The token is revoked before the body of its request arrives.
TEST_F(Tokens, AreLookedAtAgainWhereABodyTakesLong) {
  const std::string secret = made({{"name", "ci"}});
  const std::string body = rpc("5", "tools/call", R"("name":"bank_wait",)" + modern_meta());
  RawClient client(fixture.server.local_port());
  client.send_request("POST", modern_fields("tools/call", "bank_wait") + gateway::test::bearer(secret) +
                                  fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size()));
  wait_until([&] { return shown("ci").as_object().contains("last_used_at"); });
  revoke("ci");
  client.send(body);
  const auto answer = client.read_answer();
  EXPECT_EQ(answer.status, 401);
  EXPECT_THAT(answer.field("www-authenticate"), HasSubstr("Bearer"));
  EXPECT_EQ(running, 0);
}

TEST_F(Tokens, AreAnotherTokenWhenTheyAreMadeAgain) {
  const std::string before = made({{"name", "ci"}});
  LegacyClient legacy(fixture.server.local_port(), "2025-11-25", "{}", gateway::test::bearer(before));
  revoke("ci");
  const std::string after = made({{"name", "ci"}});
  EXPECT_EQ(status_for(before), 401);
  legacy.every = gateway::test::bearer(after);
  EXPECT_EQ(legacy.post(rpc("1", "tools/list", "")).status, 404) << "the session has ended with the token";
}

TEST_F(Tokens, AreRotatedWithAnOverlap) {
  const std::string before = made({{"name", "ci"}});
  LegacyClient legacy(fixture.server.local_port(), "2025-11-25", "{}", gateway::test::bearer(before));
  const auto old_stream = listen(before);
  const auto rotated = rotate("ci", R"({"overlap":"1h"})");
  EXPECT_EQ(rotated.status, 200);
  const std::string after = secret_in(rotated);
  EXPECT_NE(after, before);
  EXPECT_TRUE(rotated.json().as_object().contains("previous_until"));
  EXPECT_EQ(status_for(before), 200);
  EXPECT_EQ(status_for(after), 200);
  const auto new_stream = listen(after);
  legacy.every = gateway::test::bearer(after);
  EXPECT_EQ(legacy.post(rpc("1", "tools/list", "")).status, 200) << "who it is has not changed";

  fixture.clock.skip(std::chrono::minutes(61));
  EXPECT_EQ(status_for(before), 401) << "before anybody looks over";
  look_over();
  expect_end(*old_stream);
  EXPECT_EQ(status_for(after), 200);
  EXPECT_EQ(legacy.post(rpc("2", "tools/list", "")).status, 200);
  EXPECT_FALSE(shown("ci").as_object().contains("previous_until"));
  fixture.ask("DELETE", "/admin/upstreams/bank");
  EXPECT_EQ(new_stream->read_event()->json().at("method"), "notifications/tools/list_changed");
  EXPECT_THAT(audited(), ::testing::Contains("token.rotate"));
}

TEST_F(Tokens, AreRotatedAtOnceWithoutAnOverlap) {
  const std::string first = made({{"name", "ci"}});
  const std::string second = secret_in(rotate("ci"));
  const auto of_first = listen(first);
  const auto of_second = listen(second);
  const std::string third = secret_in(rotate("ci", R"({"overlap":"0s"})"));
  expect_end(*of_first);
  expect_end(*of_second);
  EXPECT_EQ(status_for(first), 401);
  EXPECT_EQ(status_for(second), 401);
  EXPECT_EQ(status_for(third), 200);
}

}  // namespace
}  // namespace proteus::admin
