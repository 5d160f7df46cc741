// What all routes of the admin API have in common, the audit, and the change log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admin/testing/admin_fixture.hpp"

namespace proteus::admin {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AdminApi : public ::testing::Test {
 protected:
  object bank() const { return {{"name", "bank"}, {"url", upstream.url()}}; }

  TestUpstream upstream;
  store::MemoryStore memory;
  AdminFixture fixture{memory};
};

// SES-01
TEST_F(AdminApi, DoesNothingWithoutTheSecret) {
  const std::string body = boost::json::serialize(bank());
  for (const std::string& fields :
       {std::string(), std::string("X-Admin-Secret: \r\n"), std::string("X-Admin-Secret: wrong\r\n"),
        fmt::format("X-Admin-Secret: {}x\r\n", kSecret), fmt::format("Authorization: Bearer {}\r\n", kSecret),
        fmt::format("X-Admin-Secret: {0}\r\nX-Admin-Secret: {0}\r\n", kSecret)}) {
    const auto refused = fixture.send("POST", "/admin/upstreams", body, fields);
    EXPECT_EQ(refused.status, 401) << fields;
    EXPECT_THAT(refused.head, HasSubstr("application/problem+json"));
    EXPECT_EQ(fixture.send("GET", "/admin/nothing", "", fields).status, 401) << fields;
    EXPECT_EQ(fixture.send("DELETE", "/admin", "", fields).status, 401) << fields;
  }
  EXPECT_THAT(fixture.ask("GET", "/admin/upstreams").json().at("upstreams").as_array(), IsEmpty());
  EXPECT_THAT(fixture.ask("GET", "/admin/audit").json().at("audit").as_array(), IsEmpty());
  fixture.router.set_keys(AdminKeys({{"new", Secret("another")}}));
  EXPECT_EQ(fixture.ask("GET", "/admin").status, 401);
  EXPECT_EQ(fixture.send("GET", "/admin", "", "x-admin-secret: another\r\n").status, 200);
}

TEST_F(AdminApi, SaysWhatItHas) {
  const auto routes = fixture.ask("GET", "/admin").json().at("routes").as_array();
  EXPECT_GE(routes.size(), 9U);
  for (const auto& route : routes)
    EXPECT_FALSE(route.at("help").as_string().empty()) << route;
  EXPECT_EQ(fixture.ask("GET", "/admin/nothing").status, 404);
  EXPECT_EQ(fixture.ask("GET", "/admin/").status, 404);
  EXPECT_EQ(fixture.ask("GET", "/admin/upstreams/").status, 404);
  const auto wrong = fixture.ask("PUT", "/admin/upstreams/bank");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_THAT(wrong.head, HasSubstr("Allow: GET, PATCH, DELETE"));
  EXPECT_EQ(fixture.ask("GET", "/admin/audit?colour=1").status, 400);
  EXPECT_EQ(fixture.ask("GET", "/admin/audit?limit=0").status, 400);
  EXPECT_EQ(fixture.ask("GET", "/admin/audit?limit=-1").status, 400);
  EXPECT_EQ(fixture.ask("GET", "/admin/changes?since=99999999999999999999").status, 400);
  EXPECT_EQ(fixture.ask("GET", "/admin/changes?limit=1001").status, 400);
}

// SEC-08 OPS-09
TEST_F(AdminApi, RemembersWhoDidWhat) {
  fixture.send("POST", "/admin/upstreams", boost::json::serialize(bank()),
               fmt::format("X-Admin-Secret: {}\r\n", kOpsSecret));
  fixture.ask("PATCH", "/admin/upstreams/bank", {{"ttl", "1s"}});
  fixture.refresh("bank");
  fixture.ask("DELETE", "/admin/upstreams/bank");
  fixture.ask("DELETE", "/admin/upstreams/bank");
  std::vector<std::string> seen;
  for (const auto& one : fixture.ask("GET", "/admin/audit").json().at("audit").as_array())
    seen.push_back(fmt::format("{} {}", one.at("who").as_string().c_str(), one.at("what").as_string().c_str()));
  EXPECT_THAT(seen, ElementsAre("admin upstream.delete", "admin upstream.refresh", "admin upstream.patch",
                                "ops upstream.create"));
  const auto older = fixture.ask("GET", "/admin/audit?limit=1&before=3").json().at("audit").as_array();
  ASSERT_EQ(older.size(), 1U);
  EXPECT_EQ(older[0].at("what"), "upstream.patch");
  EXPECT_EQ(older[0].at("detail"), (value{{"name", "bank"}, {"keys", {"ttl"}}}));
  EXPECT_TRUE(older[0].at("at").as_string().ends_with("Z"));
}

TEST_F(AdminApi, ListsWhatUpstreamsChanged) {
  fixture.ask("POST", "/admin/upstreams", bank());
  fixture.refresh("bank");
  fixture.refresh("bank");
  fixture.ask("DELETE", "/admin/upstreams/bank");
  wait_until([&] { return fixture.ask("GET", "/admin/changes").json().at("newest") == 2; });
  const auto page = fixture.ask("GET", "/admin/changes").json();
  ASSERT_EQ(page.at("changes").as_array().size(), 2U) << "a refresh that changes nothing leaves no trace";
  const auto& added = page.at("changes").at(0);
  EXPECT_EQ(added.at("number"), 1);
  EXPECT_EQ(added.at("upstream"), "bank");
  EXPECT_EQ(added.at("kinds"), (value{"tools"}));
  EXPECT_EQ(added.at("change").at("tools").at("added"), (value{"bank_ping"}));
  EXPECT_EQ(page.at("changes").at(1).at("change").at("tools").at("removed"), (value{"bank_ping"}));
  EXPECT_EQ(page.at("next"), 2);
  EXPECT_EQ(fixture.ask("GET", "/admin/changes?limit=1").json().at("next"), 1);
  EXPECT_EQ(fixture.ask("GET", "/admin/changes?since=1").json().at("changes").at(0).at("number"), 2);
}

TEST_F(AdminApi, ChangesCanBeFollowed) {
  const auto live = fixture.open("/admin/changes");
  fixture.ask("POST", "/admin/upstreams", bank());
  const std::string first = next_event(*live);
  EXPECT_THAT(first, HasSubstr("id: 1"));
  EXPECT_THAT(first, HasSubstr("event: change"));
  EXPECT_THAT(first, HasSubstr("bank_ping"));
  ASSERT_TRUE(upstream.server.add_tool({.name = "more"}, says("more")));
  fixture.refresh("bank");
  EXPECT_THAT(next_event(*live), HasSubstr("id: 2"));

  EXPECT_THAT(next_event(*fixture.open("/admin/changes?since=1")), HasSubstr("bank_more"));
  EXPECT_THAT(next_event(*fixture.open("/admin/changes", "Last-Event-ID: 1\r\n")), HasSubstr("id: 2"));
  EXPECT_THAT(next_event(*fixture.open("/admin/changes", "Last-Event-ID: 77\r\n")), HasSubstr("event: gap"));
  EXPECT_EQ(fixture
                .send("GET", "/admin/changes", "",
                      fmt::format("X-Admin-Secret: {}\r\nAccept: text/event-stream\r\nLast-Event-ID: x\r\n", kSecret))
                .status,
            400);
}

// As AUT-04
TEST_F(AdminApi, StreamsEndWithTheirKey) {
  const AdminKey admin{"admin", Secret(std::string(kSecret))};
  const auto live = fixture.open("/admin/changes");
  fixture.router.set_keys(AdminKeys({admin}));
  fixture.ask("POST", "/admin/upstreams", bank());
  EXPECT_THAT(next_event(*live), HasSubstr("id: 1")) << "its key is still there";
  fixture.router.set_keys(AdminKeys({{"admin", Secret("another")}}));
  EXPECT_EQ(next_event(*live), "") << "the end";
  fixture.router.set_keys(AdminKeys({admin}));
  const auto renamed = fixture.open("/admin/changes?since=1");
  fixture.router.set_keys(AdminKeys({{"somebody else", admin.secret}}));
  EXPECT_EQ(next_event(*renamed), "");
}

// The key is removed between authentication and the start of the stream.
TEST_F(AdminApi, AStreamOfAKeyThatJustWentEndsAtOnce) {
  AdminAuth auth(AdminKeys({{"admin", Secret("s")}}));
  const auto holder = auth.admit("s");
  ASSERT_TRUE(holder);
  EXPECT_FALSE(auth.admit("t"));
  auth.set_keys(AdminKeys({}));
  bool ended = false;
  const AdminAuth::KeyLease lease(auth, *holder, [&] { ended = true; });
  EXPECT_TRUE(ended);
}

// OAU-13
TEST_F(AdminApi, AStreamOfAnOperatorEndsWithItsToken) {
  AdminAuth auth(AdminKeys({{"admin", Secret("s")}}));
  const Clock::Wall until{std::chrono::hours(1)};
  bool ended = false;
  bool by_key_ended = false;
  json::Digest rules = json::sha256("rules");
  auth.set_vouching([&](std::string_view) { return std::optional(rules); });
  const AdminAuth::KeyLease lease(auth, {"mia", rules, Role::viewer, true, until}, [&] { ended = true; });
  const AdminAuth::KeyLease by_key(auth, *auth.admit("s"), [&] { by_key_ended = true; });
  auth.end_expired(until - std::chrono::seconds(1));
  EXPECT_FALSE(ended);
  auth.end_expired(until);
  EXPECT_TRUE(ended);
  EXPECT_FALSE(by_key_ended) << "a key has no end";
}

Task<std::expected<Router::Operator, server::Refusal>> found(Router::Operator one) { co_return std::move(one); }

// OAU-13
TEST_F(AdminApi, AStreamOfAnOperatorEndsWithTheRules) {
  std::atomic<bool> changed = false;
  const auto rules = [&] { return json::sha256(changed ? "other rules" : "rules"); };
  fixture.router.set_vouching([&](std::string_view) { return std::optional(rules()); });
  fixture.router.set_doorkeeper({.is_there = [] { return true; },
                                 .find =
                                     [&](const net::Request&) {
                                       return found(
                                           {"mia", Role::viewer, Clock::Wall::max(), "https://id.example", rules()});
                                     }});
  const auto open = [&] {
    auto client = std::make_unique<net::RawClient>(fixture.server.local_port());
    client->send(fixture.head("GET", "/admin/changes", "Authorization: Bearer x\r\nAccept: text/event-stream\r\n"));
    EXPECT_EQ(client->receive(true).status, 200);
    return client;
  };
  const auto live = open();
  fixture.router.end_withdrawn();
  fixture.ask("POST", "/admin/upstreams", bank());
  EXPECT_THAT(next_event(*live), HasSubstr("id: 1")) << "the rules are still the same";
  changed = true;
  fixture.router.end_withdrawn();
  EXPECT_EQ(next_event(*live), "") << "the end";
}

// SEC-03
TEST_F(AdminApi, LooksAtTheSecretBeforeItReadsABody) {
  const std::string head = "POST /admin/upstreams HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n";
  net::RawClient stranger(fixture.server.local_port());
  stranger.send(head + "X-Admin-Secret: wrong\r\n\r\n");
  EXPECT_EQ(stranger.receive().status, 401);
  net::RawClient twice(fixture.server.local_port());
  twice.send(head + fmt::format("X-Admin-Secret: {0}\r\nX-Admin-Secret: {0}\r\n\r\n", kSecret));
  EXPECT_EQ(twice.receive().status, 401);
  net::RawClient known(fixture.server.local_port());
  known.send(head + fmt::format("X-Admin-Secret: {}\r\n\r\n", kSecret));
  known.send("{" + std::string(99'998, ' ') + "}");
  EXPECT_EQ(known.receive().status, 400) << "read, and found wanting";
}

TEST_F(AdminApi, QuietStreamsAreKeptAlive) {
  net::Workers workers(1);
  Router router(change_routes(fixture.changes, std::chrono::milliseconds(1)), AdminKeys({{"a", Secret("s")}}),
                fixture.gateway.refusals());
  net::HttpServer server(workers, {}, [&](net::Exchange& exchange) { return router.handle(exchange); });
  workers.run();
  ASSERT_TRUE(server.listen());
  net::RawClient client(server.local_port());
  client.send("GET /admin/changes HTTP/1.1\r\nHost: a\r\nX-Admin-Secret: s\r\nAccept: text/event-stream\r\n\r\n");
  EXPECT_EQ(client.receive(true).status, 200);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(client.receive_chunk(), ":\n\n");
  // A server that drains ends the stream.
  auto drained = boost::asio::co_spawn(workers.at(0), server.drain(std::chrono::seconds(10)), boost::asio::use_future);
  while (client.receive_chunk())
    continue;
  client.close();
  drained.get();
}

TEST_F(AdminApi, LogsWhatAnOperatorChanged) {
  fixture.ask("POST", "/admin/upstreams", bank());
  fixture.refresh("bank");
  fixture.ask("PATCH", "/admin/upstreams/bank", {{"prefix", "b_"}});
  wait_until([&] { return fixture.ask("GET", "/admin/changes").json().at("newest") == 2; });
  const auto renamed = fixture.ask("GET", "/admin/changes?since=1").json().at("changes").at(0).at("change").at("tools");
  EXPECT_EQ(renamed.at("added"), (value{"b_ping"}));
  EXPECT_EQ(renamed.at("removed"), (value{"bank_ping"}));
  fixture.refresh("bank");
  EXPECT_EQ(fixture.ask("GET", "/admin/changes").json().at("newest"), 2);
}

// REP-02
TEST_F(AdminApi, ListenersHearOfWhatOtherProcessesLogged) {
  int own = 0;
  int others = 0;
  const auto registration = fixture.changes.listen([&](const gateway::LoggedChange&) { ++own; }, [&] { ++others; });
  fixture.changes.follow();
  EXPECT_EQ(own, 0);
  EXPECT_EQ(others, 1);
}

// REF-21
TEST_F(AdminApi, ListenersGetTypedChanges) {
  std::promise<gateway::LoggedChange> first;
  std::atomic<int> heard = 0;
  {
    const auto registration = fixture.changes.listen([&](const gateway::LoggedChange& change) {
      if (heard++ == 0) first.set_value(change);
    });
    fixture.ask("POST", "/admin/upstreams", bank());
    const auto change = first.get_future().get();
    EXPECT_EQ(change.number, 1U);
    EXPECT_EQ(change.change.upstream.value(), "bank");
    EXPECT_TRUE(change.change.which().has(catalog::Kind::tool));
    EXPECT_FALSE(change.change.which().has(catalog::Kind::prompt));
    EXPECT_THAT(change.change.kinds[catalog::Kind::tool].added, ElementsAre("bank_ping"));
  }
  const int before = heard;
  fixture.ask("DELETE", "/admin/upstreams/bank");
  wait_until([&] { return fixture.ask("GET", "/admin/changes").json().at("newest") == 2; });
  EXPECT_EQ(heard, before);
}

}  // namespace
}  // namespace proteus::admin
