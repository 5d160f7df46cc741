#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "gateway/operate/pin_decisions.hpp"
#include "gateway/testing/routing_fixture.hpp"
#include "gateway/testing/search_fixture.hpp"
#include "search/rank.hpp"

// SRC-02: in random worlds with random rules, contexts and pins, in both eras, a search returns exactly what an index
// of that caller's own list returns, in the same order, so nothing else influences the result.
// search/isolation_test.cpp covers tool sessions.
namespace proteus::gateway {
namespace {

using namespace test;

using Words = std::vector<std::string>;
const Words kToolNames{"log_read", "log_delete", "issue_create", "issue_read", "mail_send", "read", "create"};
const Words kToolPrefixes{"", "", "git_", "hub_"};
const Words kToolPatterns{"*", "git_*", "*read", "*_*", "issue*", "nothing"};
const Words kQueries{"read log", "create an issue", "send mail", "git", "hub read", "delete", "isue", "up1"};

class SearchedWorld {
 public:
  explicit SearchedWorld(unsigned seed) : random_(seed) {
    std::vector<providers::UpstreamSettings> settings;
    const std::size_t count = 2 + pick(3);
    for (std::size_t i = 0; i < count; ++i)
      settings.push_back(make_peer(fmt::format("up{}", i)));
    // Each caller exists twice: as one that searches and as one that lists.
    TestGateway::Setup setup;
    for (const std::string name : {"one", "two"}) {
      const catalog::EntryRules rules{.allow = some_patterns(), .deny = some_patterns(), .read_only = pick(3) == 0};
      const Words upstreams = pick(2) == 0 ? Words{"*"} : Words{"up0", "up1"};
      setup.principals.push_back(
          {.name = name, .token = Secret(std::string(name)), .upstreams = upstreams, .entries = rules});
      setup.principals.push_back({.name = name + "-searches",
                                  .token = Secret(name + "-searches"),
                                  .upstreams = upstreams,
                                  .entries = rules,
                                  .disclosure = catalog::Disclosure::search});
    }
    setup.manifests.contexts.emplace("c",
                                     catalog::ContextManifest{.include = some_patterns(), .exclude = some_patterns()});
    setup.locals = [](Gateway& gateway) { return Locals{std::make_shared<SearchTools>(gateway)}; };
    setup.workers = 1 + pick(2);
    setup.store = &store_;
    gateway_ = std::make_unique<TestGateway>(std::move(settings), std::move(setup));
    gateway_->discover();
    decisions_ = std::make_unique<PinDecisions>(gateway_->gateway, store_);
    decide_some();
  }

  void step() {
    if (pick(8) == 0) return decide_some();
    if (pick(4) == 0) return change();
    const std::string caller = pick(2) == 0 ? "one" : "two";
    const std::string path = pick(2) == 0 ? "/mcp" : "/mcp/c";
    const std::string& query = kQueries[pick(kQueries.size())];
    const std::size_t limit = 1 + pick(8);
    const bool legacy = pick(2) == 0;
    EXPECT_EQ(searched(caller, path, query, limit, legacy), expected(caller, path, query, limit))
        << caller << " at " << path << " for " << query << (legacy ? ", legacy" : ", modern");
  }

 private:
  struct Peer {
    explicit Peer(std::string name) : server(std::move(name)) {}
    ListingUpstream server;
    bool direct = false;
    std::string prefix;
  };

  std::size_t pick(std::size_t below) { return random_() % below; }
  ListingUpstream::Names some_tools() {
    ListingUpstream::Names names;
    for (const auto& name : kToolNames) {
      if (pick(2) == 0) names.insert(name);
    }
    return names;
  }
  Words some_patterns() {
    Words patterns;
    for (std::size_t i = pick(3); i > 0; --i)
      patterns.push_back(kToolPatterns[pick(kToolPatterns.size())]);
    return patterns;
  }
  providers::UpstreamSettings make_peer(std::string name) {
    auto& peer = *peers_.emplace_back(std::make_unique<Peer>(std::move(name)));
    peer.direct = pick(3) == 0;
    peer.server.declare_read_only(some_tools());
    peer.server.show(Kind::tool, "", some_tools());
    auto settings = upstream_at(peer.server.name(), peer.server.port());
    settings.prefix = peer.prefix = kToolPrefixes[pick(kToolPrefixes.size())];
    settings.event_driven_refresh = false;
    if (peer.direct) settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
    if (!peer.direct && pick(2) == 0) settings.trust = providers::Trust::pin;
    return settings;
  }
  // A pinned upstream offers only what a person has ratified.
  void decide_some() {
    for (const auto& one : decisions_->proposals()) {
      if (pick(3) == 0) continue;
      const auto verdict = pick(4) == 0 ? store::Verdict::rejected : store::Verdict::ratified;
      EXPECT_TRUE(gateway_->run(decisions_->decide(one.posted.id, verdict, "ada", "ops")));
    }
  }
  void change() {
    Peer& peer = *peers_[pick(peers_.size())];
    // Another readOnlyHint makes another definition, which nobody has ratified.
    if (pick(2) == 0) peer.server.declare_read_only(some_tools());
    peer.server.show(Kind::tool, "", some_tools());
    if (peer.direct) return gateway_->upstream(peer.server.name())->lists_changed();
    EXPECT_FALSE(gateway_->refresh(peer.server.name()).error);
  }

  Words searched(const std::string& caller, const std::string& path, const std::string& query, std::size_t limit,
                 bool legacy) {
    const std::string fields = bearer(caller + "-searches");
    const std::string members =
        fmt::format(R"("name":"search_tools","arguments":{{"query":"{}","limit":{}}})", query, limit);
    if (!legacy) return found_by(gateway_->ask_at(path, "tools/call", members, "search_tools", fields));
    RawClient client(gateway_->port(), path);
    const auto hello = client.request(
        "POST", fields,
        server::rpc("0", "initialize",
                    R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"})"));
    const std::string session = fmt::format("{}Mcp-Session-Id: {}\r\n", fields, hello.field("mcp-session-id"));
    return found_by(client.request("POST", session, server::rpc("1", "tools/call", members)).json());
  }

  // Ranks only what the same caller is listed. Each upstream uses its name as the description of everything.
  Words expected(const std::string& caller, const std::string& path, const std::string& query, std::size_t limit) {
    const auto listed =
        gateway_->ask_at(path, "tools/list", {}, {}, bearer(caller)).at("result").at("tools").as_array();
    std::vector<catalog::SnapshotPointer> snapshots;
    std::vector<search::Visible> visible;
    for (const auto& peer : peers_) {
      Words texts;
      for (const auto& tool : listed) {
        if (tool.at("description").as_string() != peer->server.name()) continue;
        auto own = tool;
        own.as_object()["name"] = std::string(tool.at("name").as_string()).substr(peer->prefix.size());
        texts.push_back(boost::json::serialize(own));
      }
      if (texts.empty()) continue;
      catalog::RawListing listing;
      const auto facts = gateway_->upstream(peer->server.name())->facts();
      listing.facts.instructions = facts->instructions;
      listing.facts.server_info = facts->info;
      listing.definitions[Kind::tool] = std::vector<std::string_view>(texts.begin(), texts.end());
      snapshots.push_back(catalog::build_snapshot(catalog::UpstreamName(peer->server.name()), 1, std::move(listing),
                                                  {.prefix = peer->prefix}, {})
                              .value());
      visible.push_back({search::SnapshotIndex::build(*snapshots.back(), peer->prefix), {}});
    }
    Words names;
    for (const auto& hit : search::rank(visible, search::Query::read(query).value(), limit))
      names.emplace_back(snapshots[hit.part]->list(Kind::tool)[hit.position].shown);
    return names;
  }

  std::mt19937 random_;
  store::MemoryStore store_{{}};
  std::vector<std::unique_ptr<Peer>> peers_;
  std::unique_ptr<TestGateway> gateway_;
  std::unique_ptr<PinDecisions> decisions_;
};

class SearchProperty : public ::testing::TestWithParam<unsigned> {};

TEST_P(SearchProperty, FindsWhatAnIndexOfTheCallersListFinds) {
  SearchedWorld world(GetParam());
  for (int i = 0; i < (kSanitized ? 25 : 60) && !::testing::Test::HasFailure(); ++i)
    world.step();
}

INSTANTIATE_TEST_SUITE_P(Seeds, SearchProperty, ::testing::Range(1U, 13U));

}  // namespace
}  // namespace proteus::gateway
