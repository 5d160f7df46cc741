#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "gateway/testing/routing_fixture.hpp"
#include "gateway/testing/test_gateway.hpp"
#include "mcp/uri_pattern.hpp"

// PRX-19: in random worlds, every request reaches the upstream that lists the entry to its caller, whose description
// the caller is shown, and no other.
namespace proteus::gateway {
namespace {

using catalog::Kind;
using test::ListingUpstream;
using test::TestGateway;
using test::upstream_at;
using namespace std::chrono_literals;

// How the gateway learns that lists have changed.
enum class Memory : std::uint8_t { none, announced, unannounced };

const std::vector<std::string> kOwnNames{"log", "create", "hub_create", "hub_log", "git_log", "git_hub_log"};
const std::vector<std::string> kPrefixes{"", "", "git_", "git_hub_", "g"};
const std::vector<std::string> kUris{"test://a", "test://b", "test://dir/a", "test://dir/b", "test://dir/sub/c"};
const std::vector<std::string> kTemplates{"test://dir/{name}", "test://{name}", "test://dir/{+path}"};
const std::vector<std::string> kUsers{"", "ada", "bob"};

struct Peer {
  Peer(std::string name, std::size_t page_size) : server(std::move(name), page_size) {}

  ListingUpstream server;
  bool direct = false;
  std::string prefix;
  std::map<Kind, ListingUpstream::Names> catalog;  // lists of a cached upstream

  bool fits(Kind kind, const std::string& name) const { return !catalog::is_named(kind) || name.starts_with(prefix); }
  std::string own(Kind kind, const std::string& name) const {
    return catalog::is_named(kind) ? name.substr(prefix.size()) : name;
  }
  ListingUpstream::Names shown(Kind kind, const std::string& user) {
    return direct ? server.shown(kind, user) : catalog[kind];
  }
  bool lists(Kind kind, const std::string& name, const std::string& user) {
    return fits(kind, name) && shown(kind, user).contains(own(kind, name));
  }
  bool has_template_for(const std::string& uri, const std::string& user) {
    return std::ranges::any_of(shown(Kind::resource_template, user),
                               [&](const auto& text) { return mcp::UriPattern::parse(text)->matches(uri); });
  }
};

struct Client {
  std::string token;
  std::set<std::string> upstreams;
  std::string user;

  std::string fields() const { return test::bearer(token); }
  std::string meta() const { return user.empty() ? "" : fmt::format(R"(,"user":"{}")", user); }
};

class World {
 public:
  World(unsigned seed, Memory memory) : random_(seed), memory_(memory) {
    const std::size_t count = 2 + pick(4);
    std::vector<providers::UpstreamSettings> settings;
    for (std::size_t i = 0; i < count; ++i)
      settings.push_back(make_peer(fmt::format("up{}", i)));
    std::vector<PrincipalSettings> principals;
    principals.push_back({.name = "all", .token = Secret("all-of-them")});
    principals.push_back({.name = "some", .token = Secret("some-of-them"), .upstreams = {}});
    for (const auto& peer : peers_) {
      all_.insert(peer->server.name());
      if (pick(2) == 0 || some_.empty()) some_.insert(peer->server.name());
    }
    principals.back().upstreams.assign(some_.begin(), some_.end());
    TestGateway::Setup setup{.principals = std::move(principals)};
    setup.page_size = std::array<std::size_t, 3>{2, 5, 1000}[pick(3)];
    setup.remembered.time = memory == Memory::none ? 0ms : 1h;
    setup.workers = 1 + pick(2);
    gateway_ = std::make_unique<TestGateway>(std::move(settings), std::move(setup));
    gateway_->discover();
  }

  void step() {
    switch (pick(8)) {
      case 0: return change();
      case 1: return list(some_client(), some_kind());
      default: return ask(some_client());
    }
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }
  const std::string& one_of(const std::vector<std::string>& all) { return all[pick(all.size())]; }
  Kind some_kind() { return catalog::kKinds[pick(catalog::kKinds.size())]; }
  Client some_client() {
    const bool all = pick(3) > 0;
    return {all ? "all-of-them" : "some-of-them", all ? all_ : some_, one_of(kUsers)};
  }
  const std::vector<std::string>& pool(Kind kind) const {
    if (catalog::is_named(kind)) return kOwnNames;
    return kind == Kind::resource ? kUris : kTemplates;
  }
  ListingUpstream::Names some_names(Kind kind) {
    ListingUpstream::Names names;
    for (const auto& name : pool(kind)) {
      if (pick(3) == 0) names.insert(name);
    }
    return names;
  }

  providers::UpstreamSettings make_peer(std::string name) {
    auto& peer = *peers_.emplace_back(std::make_unique<Peer>(std::move(name), pick(2) == 0 ? 100 : 1 + pick(3)));
    peer.direct = peers_.size() == 1 || pick(3) > 0;
    peer.prefix = one_of(kPrefixes);
    for (const Kind kind : catalog::kKinds) {
      for (const auto& user : kUsers)
        peer.server.show(kind, user, some_names(kind));
      peer.catalog[kind] = peer.server.shown(kind, "");
    }
    auto settings = upstream_at(peer.server.name(), peer.server.port());
    settings.prefix = peer.prefix;
    settings.event_driven_refresh = false;
    if (peer.direct) settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
    return settings;
  }

  void change() {
    Peer& peer = *peers_[pick(peers_.size())];
    const Kind kind = some_kind();
    const std::string user = peer.direct ? one_of(kUsers) : "";
    peer.server.show(kind, user, some_names(kind));
    if (!peer.direct) {
      EXPECT_FALSE(gateway_->refresh(peer.server.name()).error);
      peer.catalog[kind] = peer.server.shown(kind, "");
    } else if (memory_ == Memory::announced) {
      gateway_->upstream(peer.server.name())->lists_changed();
    }
  }

  // The first upstream that lists the entry, or the only candidate.
  Peer* holder(Kind kind, const std::string& name, const Client& client) {
    std::vector<Peer*> allowed;
    for (const auto& peer : peers_) {
      if (client.upstreams.contains(peer->server.name())) allowed.push_back(peer.get());
    }
    for (Peer* peer : allowed) {
      if (peer->lists(kind, name, client.user)) return peer;
    }
    for (Peer* peer : allowed) {
      if (kind == Kind::resource && peer->has_template_for(name, client.user)) return peer;
      if (kind == Kind::resource_template && peer->lists(Kind::resource, name, client.user)) return peer;
    }
    return only_candidate(kind, name, client);
  }

  Peer* only_candidate(Kind kind, const std::string& name, const Client& client) {
    Peer* only = nullptr;
    for (const auto& peer : peers_) {
      if (!client.upstreams.contains(peer->server.name()) || !peer->direct || !peer->fits(kind, name)) continue;
      if (only != nullptr) return nullptr;
      only = peer.get();
    }
    return only;
  }

  void list(const Client& client, Kind kind) {
    const auto& info = catalog::info(kind);
    std::map<std::string, std::string> shown;
    std::string cursor;
    do {
      const auto answer =
          gateway_->ask(mcp::to_string(info.list_method), cursor, {}, client.fields(), client.meta()).at("result");
      for (const auto& entry : answer.at(info.member).as_array()) {
        const std::string name(entry.at(info.key).as_string());
        EXPECT_TRUE(shown.emplace(name, entry.at("description").as_string()).second) << name << " is listed twice";
      }
      const auto* next = answer.as_object().if_contains("nextCursor");
      cursor = next != nullptr ? fmt::format(R"("cursor":"{}")", std::string_view(next->as_string())) : "";
    } while (!cursor.empty());
    std::map<std::string, std::string> expected;
    for (const auto& peer : peers_) {
      if (!client.upstreams.contains(peer->server.name())) continue;
      for (const auto& own : peer->shown(kind, client.user))
        expected.emplace(catalog::is_named(kind) ? peer->prefix + own : own, peer->server.name());
    }
    // On later pages, the gateway knows the entries of other pages from memory.
    if (memory_ != Memory::unannounced) EXPECT_EQ(shown, expected);
  }

  void ask(const Client& client) {
    struct Request {
      std::string_view method;
      Kind kind;
    };
    static constexpr std::array<Request, 5> kRequests{{{"tools/call", Kind::tool},
                                                       {"prompts/get", Kind::prompt},
                                                       {"resources/read", Kind::resource},
                                                       {"completion/complete", Kind::prompt},
                                                       {"completion/complete", Kind::resource_template}}};
    const auto& [method, kind] = kRequests[pick(kRequests.size())];
    const std::string name = (catalog::is_named(kind) ? one_of(kPrefixes) : "") + one_of(pool(kind));
    const std::string_view member = catalog::is_named(kind) ? "name" : "uri";
    std::string members = fmt::format(R"("{}":"{}")", member, name);
    if (method == "tools/call") members += R"(,"arguments":{})";
    const bool completes = method == "completion/complete";
    if (completes) {
      members = fmt::format(R"("ref":{{"type":"ref/{}",{}}},"argument":{{"name":"x","value":""}})",
                            catalog::is_named(kind) ? "prompt" : "resource", members);
    }
    const auto answer = gateway_->ask(method, members, completes ? "" : name, client.fields(), client.meta());
    check(client, kind, name, answer);
  }

  void check(const Client& client, Kind kind, const std::string& name, const boost::json::value& answer) {
    Peer* const expected = holder(kind, name, client);
    bool reached = false;
    for (const auto& peer : peers_) {
      for (const auto& asked : peer->server.take_asked()) {
        reached = true;
        EXPECT_EQ(asked.name, peer->own(kind, name));
        if (peer->direct) EXPECT_EQ(asked.user, client.user);
        EXPECT_TRUE(client.upstreams.contains(peer->server.name())) << name << " reached " << peer->server.name();
        if (memory_ != Memory::unannounced) {
          EXPECT_EQ(peer.get(), expected) << name << " reached " << peer->server.name();
        } else {
          EXPECT_TRUE(may_have_had(*peer, kind, name, client)) << name << " reached " << peer->server.name();
        }
      }
    }
    const bool failed = answer.as_object().contains("error");
    EXPECT_EQ(reached, !failed) << answer;
    if (memory_ != Memory::unannounced) EXPECT_EQ(reached, expected != nullptr) << name << ": " << answer;
  }

  // Whether the upstream ever listed the entry to this user.
  bool may_have_had(Peer& peer, Kind kind, const std::string& name, const Client& client) {
    if (only_candidate(kind, name, client) == &peer) return true;
    const std::string user = peer.direct ? client.user : "";
    if (peer.server.has_listed(kind, user, peer.own(kind, name))) return true;
    if (kind == Kind::resource_template) return peer.server.has_listed(Kind::resource, user, name);
    return kind == Kind::resource && std::ranges::any_of(kTemplates, [&](const auto& text) {
             return peer.server.has_listed(Kind::resource_template, user, text) &&
                    mcp::UriPattern::parse(text)->matches(name);
           });
  }

  std::minstd_rand random_;
  const Memory memory_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::set<std::string> all_;
  std::set<std::string> some_;
  std::unique_ptr<TestGateway> gateway_;
};

class RoutingProperty : public ::testing::TestWithParam<Memory> {};

TEST_P(RoutingProperty, EveryRequestReachesWhomItIsListedBy) {
  // Runs a single world if its seed is given.
  const char* const given = std::getenv("PROTEUS_ROUTING_SEED");
  const unsigned first = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : 1;
  const unsigned worlds = given != nullptr ? 1 : 12;
  for (unsigned seed = first; seed < first + worlds && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("PROTEUS_ROUTING_SEED={}", seed));
    World world(seed, GetParam());
    for (int i = 0; i < 60 && !HasFailure(); ++i)
      world.step();
  }
}

std::string name_of(const ::testing::TestParamInfo<Memory>& info) {
  switch (info.param) {
    case Memory::none: return "NoMemory";
    case Memory::announced: return "AnnouncedChanges";
    case Memory::unannounced: break;
  }
  return "UnannouncedChanges";
}

INSTANTIATE_TEST_SUITE_P(Worlds, RoutingProperty,
                         ::testing::Values(Memory::none, Memory::announced, Memory::unannounced), name_of);

}  // namespace
}  // namespace proteus::gateway
