#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "gateway/operate/why.hpp"
#include "gateway/testing/routing_fixture.hpp"
#include "gateway/testing/test_gateway.hpp"
#include "mcp/errors.hpp"
#include "mcp/uri_pattern.hpp"

// OAU-07, AUT-02, OBS-06, OBS-07: in random worlds with random rules, a caller's lists contain what its rules allow, in
// both eras and in every context. What is not listed to a caller does not exist for it and reaches no upstream.
namespace proteus::gateway {
namespace {

using catalog::Kind;
using test::ListingUpstream;
using test::TestGateway;
using test::upstream_at;
using namespace std::chrono_literals;

using Texts = std::vector<std::string>;

const Texts kEntryNames{"log", "create", "hub_create", "hub_log", "git_log"};
const Texts kEntryPrefixes{"", "", "git_", "git_hub_", "g"};
const Texts kEntryUris{"test://a", "test://b", "test://dir/a", "test://dir/b", "test://dir/sub/c"};
const Texts kEntryTemplates{"test://dir/{name}", "test://{name}", "test://dir/{+path}"};
const Texts kNamePatterns{"*", "git_*", "*log", "*_hub_*", "g?t_create", "log", "create", "nothing"};
const Texts kUriPatterns{"*", "test://dir/*", "*a", "test://?", "context://*", "test://*{*", "nothing"};

// An independent implementation of the patterns.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*')
    return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  if (text.empty() || (pattern.front() != '?' && pattern.front() != text.front())) return false;
  return matches(pattern.substr(1), text.substr(1));
}

// What patterns allow and deny, written after the documentation.
struct Selection {
  Texts include = {"*"};
  Texts exclude;

  static std::string prefix_of(Kind kind) {
    if (kind == Kind::tool) return "";
    return kind == Kind::prompt ? "prompt:" : "resource:";
  }
  static bool is_of(Kind kind, const std::string& pattern) {
    const bool other = pattern.starts_with("prompt:") || pattern.starts_with("resource:");
    return kind == Kind::tool ? !other : pattern.starts_with(prefix_of(kind));
  }
  static bool any(const Texts& patterns, Kind kind, const Texts& names) {
    return std::ranges::any_of(patterns, [&](const std::string& pattern) {
      if (!is_of(kind, pattern)) return false;
      const std::string_view bare = std::string_view(pattern).substr(prefix_of(kind).size());
      return std::ranges::any_of(names, [&](const std::string& name) { return matches(bare, name); });
    });
  }
  bool admits(Kind kind, const Texts& names) const {
    const bool spoken = std::ranges::any_of(include, [&](const auto& pattern) { return is_of(kind, pattern); });
    const bool whole = include.empty() ? kind != Kind::tool : !spoken;
    return (whole || any(include, kind, names)) && !any(exclude, kind, names);
  }
};

struct RuledCaller {
  std::string token;
  Selection rules;
  bool read_only = false;
};

struct RuledPeer {
  RuledPeer(std::string name, std::size_t page_size) : server(std::move(name), page_size) {}

  ListingUpstream server;
  bool direct = false;
  std::string prefix;
  ListingUpstream::Names read_only;
  std::map<Kind, ListingUpstream::Names> catalog;  // lists of a cached upstream

  std::string shown(Kind kind, const std::string& own) const { return catalog::is_named(kind) ? prefix + own : own; }
  bool fits(Kind kind, const std::string& name) const { return !catalog::is_named(kind) || name.starts_with(prefix); }
  std::string own(Kind kind, const std::string& name) const {
    return catalog::is_named(kind) ? name.substr(prefix.size()) : name;
  }
  ListingUpstream::Names lists(Kind kind) { return direct ? server.shown(kind, "") : catalog[kind]; }
};

// One request of a caller, in an era and a context.
struct Asking {
  const RuledCaller& caller;
  bool legacy;
  bool in_context;
};

class RuledWorld {
 public:
  explicit RuledWorld(unsigned seed) : random_(seed) {
    const std::size_t count = 2 + pick(3);
    std::vector<providers::UpstreamSettings> settings;
    for (std::size_t i = 0; i < count; ++i)
      settings.push_back(make_peer(fmt::format("up{}", i)));
    callers_.push_back({.token = "everything", .rules = {}});
    callers_.push_back({.token = "one", .rules = some_selection(), .read_only = pick(2) == 0});
    callers_.push_back({.token = "two", .rules = some_selection(), .read_only = pick(3) == 0});
    std::vector<PrincipalSettings> principals;
    for (const auto& caller : callers_) {
      principals.push_back({.name = caller.token,
                            .token = Secret(std::string(caller.token)),
                            .entries = {caller.rules.include, caller.rules.exclude, caller.read_only}});
    }
    context_ = some_selection();
    TestGateway::Setup setup{.principals = std::move(principals)};
    setup.manifests = {{{"c", {.include = context_.include, .exclude = context_.exclude}}}, {}};
    setup.page_size = std::array<std::size_t, 3>{2, 5, 1000}[pick(3)];
    setup.remembered.time = pick(2) == 0 ? 0ms : 1h;
    setup.workers = 1 + pick(2);
    gateway_ = std::make_unique<TestGateway>(std::move(settings), std::move(setup));
    gateway_->discover();
  }

  void step() {
    const Asking asking{callers_[pick(callers_.size())], pick(2) == 0, pick(3) == 0};
    switch (pick(6)) {
      case 0: return change();
      case 1:
      case 2: return list(asking, some_kind());
      default: return ask(asking);
    }
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }
  const std::string& one_of(const Texts& all) { return all[pick(all.size())]; }
  Kind some_kind() { return catalog::kKinds[pick(catalog::kKinds.size())]; }
  static const Texts& pool(Kind kind) {
    if (catalog::is_named(kind)) return kEntryNames;
    return kind == Kind::resource ? kEntryUris : kEntryTemplates;
  }
  ListingUpstream::Names some_names(Kind kind) {
    ListingUpstream::Names names;
    for (const auto& name : pool(kind)) {
      if (pick(2) == 0) names.insert(name);
    }
    return names;
  }
  Texts some_patterns(std::size_t most) {
    Texts patterns;
    for (std::size_t i = pick(most + 1); i > 0; --i) {
      const Kind kind = some_kind();
      patterns.push_back(Selection::prefix_of(kind) + one_of(catalog::is_named(kind) ? kNamePatterns : kUriPatterns));
    }
    return patterns;
  }
  Selection some_selection() { return {some_patterns(4), some_patterns(3)}; }

  providers::UpstreamSettings make_peer(std::string name) {
    auto& peer = *peers_.emplace_back(std::make_unique<RuledPeer>(std::move(name), pick(2) == 0 ? 100 : 1 + pick(3)));
    peer.direct = pick(2) == 0;
    peer.prefix = one_of(kEntryPrefixes);
    peer.read_only = some_names(Kind::tool);
    peer.server.declare_read_only(peer.read_only);
    for (const Kind kind : catalog::kKinds) {
      peer.server.show(kind, "", some_names(kind));
      peer.catalog[kind] = peer.server.shown(kind, "");
    }
    auto settings = upstream_at(peer.server.name(), peer.server.port());
    settings.prefix = peer.prefix;
    settings.event_driven_refresh = false;
    if (peer.direct) settings.refresh_strategy = providers::RefreshStrategy::direct_proxy;
    return settings;
  }

  void change() {
    RuledPeer& peer = *peers_[pick(peers_.size())];
    const Kind kind = some_kind();
    peer.server.show(kind, "", some_names(kind));
    if (peer.direct) return gateway_->upstream(peer.server.name())->lists_changed();
    EXPECT_FALSE(gateway_->refresh(peer.server.name()).error);
    peer.catalog[kind] = peer.server.shown(kind, "");
  }

  // Whether the names alone are allowed.
  bool may_be_named(const Asking& asking, Kind kind, const std::string& shown, const std::string& own) const {
    return asking.caller.rules.admits(kind, {shown}) && (!asking.in_context || context_.admits(kind, {shown, own}));
  }
  bool is_left(const Asking& asking, const RuledPeer& peer, Kind kind, const std::string& own) const {
    const bool declared = kind != Kind::tool || !asking.caller.read_only || peer.read_only.contains(own);
    return declared && may_be_named(asking, kind, peer.shown(kind, own), own);
  }

  // The expected names, with the upstream that describes each; the gateway's own entries have none.
  std::map<std::string, std::string> expected(const Asking& asking, Kind kind) {
    std::map<std::string, std::string> all;
    if (kind == Kind::resource && asking.caller.rules.admits(kind, {"context://c"})) all.emplace("context://c", "");
    for (const auto& peer : peers_) {
      for (const auto& own : peer->lists(kind)) {
        if (is_left(asking, *peer, kind, own)) all.emplace(peer->shown(kind, own), peer->server.name());
      }
    }
    return all;
  }

  struct Answered {
    boost::json::value json;
    mcp::Era era;
  };
  Answered send(const Asking& asking, std::string_view method, std::string_view members, std::string_view name) {
    const std::string path = asking.in_context ? "/mcp/c" : "/mcp";
    const std::string fields = test::bearer(asking.caller.token);
    if (!asking.legacy) return {gateway_->ask_at(path, method, members, name, fields), mcp::Era::modern};
    auto& session = sessions_[{asking.caller.token, path}];
    if (!session.client) {
      session.client = std::make_unique<test::RawClient>(gateway_->port(), path);
      const auto hello = session.client->request(
          "POST", fields,
          server::rpc("0", "initialize",
                      R"("protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"})"));
      session.fields = fields + fmt::format("Mcp-Session-Id: {}\r\n", hello.field("mcp-session-id"));
    }
    return {session.client->request("POST", session.fields, server::rpc("1", method, members)).json(),
            mcp::Era::legacy};
  }

  void list(const Asking& asking, Kind kind) {
    const auto& info = catalog::info(kind);
    std::map<std::string, std::string> shown;
    std::string cursor;
    do {
      const auto answer = send(asking, mcp::to_string(info.list_method), cursor, {}).json.at("result");
      for (const auto& entry : answer.at(info.member).as_array()) {
        const std::string name(entry.at(info.key).as_string());
        const bool own = name.starts_with("context://");
        EXPECT_TRUE(shown.emplace(name, own ? "" : entry.at("description").as_string().c_str()).second) << name;
      }
      const auto* next = answer.as_object().if_contains("nextCursor");
      cursor = next != nullptr ? fmt::format(R"("cursor":"{}")", std::string_view(next->as_string())) : "";
    } while (!cursor.empty());
    EXPECT_EQ(shown, expected(asking, kind)) << told(asking, catalog::info(kind).plural);
    see_as(asking, kind, shown);
  }

  Viewpoint viewpoint(const Asking& asking) const {
    return look_as(gateway_->gateway, asking.caller.token, asking.in_context ? "c" : "").value();
  }

  // OBS-07: viewing as a caller shows what that caller was listed, except entries of live upstreams.
  void see_as(const Asking& asking, Kind kind, const std::map<std::string, std::string>& listed) {
    const Viewpoint at = viewpoint(asking);
    std::map<std::string, std::string> seen;
    for (const auto& part : at.view->parts(kind)) {
      const auto& list = part.snapshot->list(kind);
      for (std::uint32_t index = 0; index < list.size(); ++index) {
        if (std::ranges::binary_search(part.lost, index)) continue;
        const bool own = list[index].shown.starts_with("context://");
        seen.emplace(list[index].shown, own ? "" : part.snapshot->upstream().value());
      }
    }
    const auto is_live = [&](const std::string& name) {
      return std::ranges::any_of(peers_, [&](const auto& peer) { return peer->direct && peer->server.name() == name; });
    };
    for (const auto& [name, from] : listed) {
      if (!is_live(from)) {
        EXPECT_TRUE(seen.contains(name) && seen.at(name) == from) << name << told(asking, "seen as");
      }
      const auto answer = why(at, {}, gateway_->gateway.clock(), {kind, name}).decisive;
      EXPECT_NE(answer.visibility, Visibility::not_seen) << name << ": " << answer.detail << told(asking, "why");
    }
    for (const auto& [name, from] : seen) {
      EXPECT_TRUE(listed.contains(name)) << name << told(asking, "seen as");
    }
  }

  // OBS-06: the named upstream serves what is seen, nobody serves what is not seen, and only a live upstream can be
  // unknown.
  void explain(const Asking& asking, Kind kind, const std::string& name, const RuledPeer* expected) {
    const auto answer = why(viewpoint(asking), {}, gateway_->gateway.clock(), {kind, name});
    const std::string told_why = name + ": " + answer.decisive.detail + told(asking, "why");
    const Visibility visibility = answer.decisive.visibility;
    if (visibility == Visibility::upstream_knows) {
      EXPECT_TRUE(std::ranges::any_of(peers_, [](const auto& peer) { return peer->direct; })) << told_why;
    } else {
      EXPECT_EQ(visibility == Visibility::seen, expected != nullptr) << told_why;
      if (expected != nullptr) EXPECT_EQ(answer.decisive.upstream, expected->server.name()) << told_why;
    }
  }

  // The upstream that should get the request: the first that lists the entry or has a template for it, or the only
  // candidate.
  RuledPeer* holder(const Asking& asking, Kind kind, const std::string& name) {
    for (const auto& peer : peers_) {
      if (!peer->fits(kind, name)) continue;
      const std::string own = peer->own(kind, name);
      if (peer->lists(kind).contains(own) && is_left(asking, *peer, kind, own)) return peer.get();
    }
    if (kind == Kind::resource && may_be_named(asking, kind, name, name)) {
      for (const auto& peer : peers_) {
        for (const auto& text : peer->lists(Kind::resource_template)) {
          const bool stands_for = mcp::UriPattern::parse(text)->matches(name);
          if (stands_for && is_left(asking, *peer, Kind::resource_template, text)) return peer.get();
        }
      }
    }
    RuledPeer* only = nullptr;
    for (const auto& peer : peers_) {
      if (!peer->direct || !peer->fits(kind, name)) continue;
      if (!may_be_named(asking, kind, name, peer->own(kind, name))) continue;
      if (only != nullptr) return nullptr;
      only = peer.get();
    }
    // Only the list of the upstream tells whether the tool is read-only.
    return kind == Kind::tool && asking.caller.read_only ? nullptr : only;
  }

  void ask(const Asking& asking) {
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
    const std::string name = (catalog::is_named(kind) ? one_of(kEntryPrefixes) : "") + one_of(pool(kind));
    std::string members = fmt::format(R"("{}":"{}")", catalog::is_named(kind) ? "name" : "uri", name);
    if (method == "tools/call") members += R"(,"arguments":{})";
    const bool completes = method == "completion/complete";
    if (completes) {
      members = fmt::format(R"("ref":{{"type":"ref/{}",{}}},"argument":{{"name":"x","value":""}})",
                            catalog::is_named(kind) ? "prompt" : "resource", members);
    }
    check(asking, kind, name, send(asking, method, members, completes ? std::string_view() : name));
  }

  void check(const Asking& asking, Kind kind, const std::string& name, const Answered& answer) {
    RuledPeer* const expected = holder(asking, kind, name);
    explain(asking, kind, name, expected);
    for (const auto& peer : peers_) {
      const auto asked = peer->server.take_asked();
      EXPECT_EQ(asked.size(), peer.get() == expected ? 1U : 0U)
          << name << " at " << peer->server.name() << told(asking, catalog::info(kind).word) << answer.json;
    }
    const auto* error = answer.json.as_object().if_contains("error");
    EXPECT_EQ(error != nullptr, expected == nullptr) << name << told(asking, catalog::info(kind).word);
    if (error == nullptr) return;
    const Error unknown = unknown_of(kind, name);
    EXPECT_EQ(error->at("message").as_string(), unknown.message());
    EXPECT_EQ(error->at("code").as_int64(), mcp::rpc_code(unknown, answer.era));
  }

  static Error unknown_of(Kind kind, const std::string& name) {
    if (kind == Kind::tool) return mcp::errors::unknown_tool(name);
    return kind == Kind::prompt ? mcp::errors::unknown_prompt(name) : mcp::errors::resource_not_found(name);
  }

  std::string told(const Asking& asking, std::string_view what) const {
    return fmt::format(", {} as {} ({}{}): allow [{}], deny [{}]{}; the context has [{}] without [{}]\n", what,
                       asking.caller.token, asking.legacy ? "legacy" : "modern",
                       asking.in_context ? ", in the context" : "", fmt::join(asking.caller.rules.include, " "),
                       fmt::join(asking.caller.rules.exclude, " "), asking.caller.read_only ? ", read only" : "",
                       fmt::join(context_.include, " "), fmt::join(context_.exclude, " "));
  }

  struct LegacySession {
    std::unique_ptr<test::RawClient> client;
    std::string fields;
  };

  std::minstd_rand random_;
  std::vector<std::unique_ptr<RuledPeer>> peers_;
  std::vector<RuledCaller> callers_;
  Selection context_;
  std::unique_ptr<TestGateway> gateway_;
  std::map<std::pair<std::string, std::string>, LegacySession> sessions_;
};

TEST(AccessProperty, WhatIsNotListedDoesNotExist) {
  // Runs a single world if its seed is given.
  const char* const given = std::getenv("PROTEUS_ACCESS_SEED");
  const unsigned first = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : 1;
  const unsigned worlds = given != nullptr ? 1 : 25;
  for (unsigned seed = first; seed < first + worlds && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("PROTEUS_ACCESS_SEED={}", seed));
    RuledWorld world(seed);
    for (int i = 0; i < 60 && !HasFailure(); ++i)
      world.step();
  }
}

}  // namespace
}  // namespace proteus::gateway
