#include "app/config/read_config.hpp"

#include <chrono>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/testing/config_support.hpp"

namespace proteus::app {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kContract = R"(
[server]
listen = "127.0.0.1:8080"
threads = 0
allowed_origins = []
allowed_hosts = []
max_body = "4MiB"
page_size = 1000
grace = "10s"
tls = { certificate = "", key = "" }
ops_listen = ""
[auth]
anonymous = "loopback"
[[auth.tokens]]
name = "ci"
token_env = "CI_TOKEN"
contexts = ["*"]
upstreams = ["*"]
disclosure = "all"
[[admin.keys]]
name = "ops"
secret_env = "OPS_SECRET"
[sessions]
idle_timeout = "30m"
http_timeout = "50s"
event_store = "memory"
events_per_stream = 1000
[egress]
allow_private = false
allow = []
[limits]
meta_keys = 64
meta_depth = 8
meta_bytes = "16KiB"
list_pages = 1000
list_entries = 100000
debounce = "200ms"
parked_calls = 1000
parked_calls_per_principal = 16
parked_for = "5m"
calls_per_principal = 256
calls_per_upstream = 1024
requests_per_minute = 0
streams_per_principal = 64
programs = 256
programs_per_upstream = 64
worker_stall = "500ms"
[defaults.upstream]
[[upstreams]]
name = "banking"
url = "http://127.0.0.1:9000/mcp"
transport = "streamable-http"
era = "auto"
prefix = "banking_"
refresh_strategy = "cached"
meta_propagation_enabled = false
fail_fast_on_startup = false
auto_refresh = false
refresh_interval = "5m"
event_driven_refresh = true
ttl = "0s"
connect_timeout = "5s"
timeout = "30s"
call_timeout = "5m"
health_interval = "30s"
max_consecutive_failures = 3
circuit_failures = 5
circuit_open = "30s"
program_idle = "5m"
names = "as-is"
trust = "auto"
anonymous_sessions = "per-call"
authentication = { type = "bearer", token_env = "API_TOKEN" }
[datasets]
mappings = "mappings"
[contexts.abc]
display_name = "SEC filings"
include = ["*"]
exclude = []
sibling_subgraphs = ["abc_historical"]
schemas = ["accounting"]
instructions = ""
dataset = ""
example_queries = [{ title = "Revenue", text = "…" }]
disclosure = "all"
always = []
[contexts.abc.tool_supplements]
"read-graph-cypher" = "Facts carry dimensions; filter them."
[contexts.abc_historical]
parent = "abc"
[schemas.accounting]
tools = ["read-graph-*"]
guidance = "…"
[search]
embeddings = { url = "", model = "", token_env = "" }
)";
const std::map<std::string, std::string> kSecrets = {
    {"CI_TOKEN", "t-ci"}, {"OPS_SECRET", "s-ops"}, {"API_TOKEN", "t-api"}};

TEST(Config, ReadsTheContractWhole) {
  const auto [config, said] = read(kContract, kSecrets);
  EXPECT_THAT(said, IsEmpty());
  ASSERT_TRUE(config);
  EXPECT_EQ(config->auth.tokens.at(0).token.reveal(), "t-ci");
  EXPECT_EQ(config->admin.keys.at(0).secret.reveal(), "s-ops");
  EXPECT_EQ(config->upstreams.at(0).settings.authentication.token_env, "API_TOKEN");
  EXPECT_EQ(config->contexts.at("abc").tool_supplements.size(), 1U);
  EXPECT_EQ(config->schemas.at("accounting").guidance, "…");
}

TEST(Config, HasTheValuesOfTheContractByDefault) {
  auto written = read(kContract, kSecrets).config.value();
  const auto bare = read("").config.value();
  EXPECT_TRUE(written.server == bare.server);
  EXPECT_TRUE(written.sessions == bare.sessions);
  EXPECT_TRUE(written.egress == bare.egress);
  EXPECT_TRUE(written.limits == bare.limits);
  EXPECT_TRUE(written.datasets.mappings == bare.datasets.mappings);
  EXPECT_TRUE(written.search == bare.search);
  EXPECT_EQ(written.auth.admitted_anonymous(), bare.auth.admitted_anonymous());
  EXPECT_EQ(written.data_directory, "proteus-data");
  EXPECT_TRUE(read_config({}, {}, fixed_environment({}), Purpose::serve).config == bare);
}

// SRC-01, SRC-08
TEST(Config, SaysWhoSearchesAndByWhat) {
  const auto [config, said] = read(R"([contexts.c]
disclosure = "search"
always = ["git_*"]
[contexts.d]
parent = "c"
[[auth.tokens]]
name = "agent"
token_env = "AGENT"
disclosure = "search"
[search]
embeddings = { url = "http://127.0.0.1:1/v1/embeddings", model = "m", token_env = "MODEL" }
)",
                                   {{"AGENT", "a"}, {"MODEL", "b"}});
  EXPECT_THAT(said, IsEmpty());
  ASSERT_TRUE(config);
  EXPECT_EQ(config->contexts.at("d").disclosure, catalog::Disclosure::search);
  EXPECT_THAT(config->contexts.at("d").always, ElementsAre("git_*"));
  EXPECT_EQ(config->auth.tokens.at(0).disclosure, catalog::Disclosure::search);
  EXPECT_EQ(config->search.embeddings.token.reveal(), "b");
  EXPECT_THAT(read("[search]\nembeddings = { url = \"http://127.0.0.1:1/\" }").said,
              ElementsAre(::testing::HasSubstr("needs a model")));
  EXPECT_THAT(read("[search]\nembeddings = { url = \"x\", model = \"m\" }").said.size(), 1U);
  EXPECT_THAT(read("[contexts.c]\ndisclosure = \"some\"").said.size(), 1U);
}

// A configuration with every kind of fault at once. REF-23 OPS-04 PRX-01
TEST(Config, ReportsEveryFaultWithFileLineAndKey) {
  const auto [config, said] = read(R"([server]
listen = "8080"
max_body = 4
grace = "soon"
pagesize = 10
tls = { certificate = "a.pem" }
ops_listen = "example.com:80"
allowed_origins = ["app.example.com"]
[auth]
anonymous = "sometimes"
[[auth.tokens]]
name = "ci"
token_env = "CI_TOKEN"
[[auth.tokens]]
name = "ci"
token_env = "OTHER"
[[auth.tokens]]
token_env = "1X"
[egress]
allow = ["10.0.0.0/99"]
[limits]
parked_calls = 0
debounce = 2020-01-01
[defaults.upstream]
name = "x"
timeout = "-1s"
[[upstreams]]
name = "a"
url = "ftp://host/"
refresh_interval = "0s"
[[upstreams]]
name = "a"
url = "http://"
refresh_strategy = "live"
[[upstreams]]
name = "b b"
command = []
transprot = "sse"
[[upstreams]]
name = "c"
authentication = { type = "bearer", token = "hunter2" }
[contexts.abc]
parent = "nowhere"
[contexts."s c"]
[datasets]
mappings = 5
[upstream]
)",
                                   {{"CI_TOKEN", "x"}, {"PORT", "http"}, {"PROTEUS_META_PROPAGATION", "yes"}},
                                   {.listen = "nowhere:80", .data = ""});
  EXPECT_FALSE(config);
  EXPECT_THAT(
      said,
      ::testing::UnorderedElementsAre(
          "proteus.toml:2:1: server.listen: must be a host and a port, such as \"127.0.0.1:8080\" or \"[::1]:8080\"",
          "proteus.toml:3:1: server.max_body: must be a string with a unit, such as \"4MiB\", not a number",
          "proteus.toml:4:1: server.grace: \"soon\" is not understood: a duration is a whole number with a unit, such "
          "as 200ms, 30s, 5m or 1h30m",
          "proteus.toml:5:1: server.pagesize: is not a known key; did you mean page_size?",
          "proteus.toml:6:1: server.tls: needs both certificate and key, or neither",
          "proteus.toml:7:1: server.ops_listen: must have an IP address or localhost as its host",
          "proteus.toml:8:20: server.allowed_origins[0]: must be an origin such as \"https://app.example.com\", or "
          "\"*\"",
          "proteus.toml:10:1: auth.anonymous: must be \"loopback\", \"never\" or \"always\", not \"sometimes\"",
          "proteus.toml:15:1: auth.tokens[1].name: is already the name of auth.tokens[0]",
          "proteus.toml:16:1: auth.tokens[1].token_env: the environment variable OTHER is not set",
          "proteus.toml:17:1: auth.tokens[2]: name is missing",
          "proteus.toml:18:1: auth.tokens[2].token_env: must be the name of an environment variable: letters, digits "
          "and underscores, not beginning with a digit",
          "proteus.toml:20:10: egress.allow[0]: must be a network such as \"10.0.0.0/8\", an address, or a host name",
          "proteus.toml:22:1: limits.parked_calls: must be above zero",
          "proteus.toml:23:1: limits.debounce: is a date or a time without an offset, for which no key has a use",
          "proteus.toml:25:1: defaults.upstream.name: belongs to one upstream, and cannot be a default",
          "proteus.toml:26:1: defaults.upstream.timeout: must not be negative",
          "proteus.toml:29:1: upstreams[0].url: URL 'ftp://host/' must begin with http:// or https://",
          "proteus.toml:30:1: upstreams[0].refresh_interval: must be above zero",
          "proteus.toml:32:1: upstreams[1].name: is already the name of upstreams[0]",
          "proteus.toml:33:1: upstreams[1].url: URL 'http://' has no host",
          "proteus.toml:34:1: upstreams[1].refresh_strategy: must be \"cached\" or \"direct_proxy\", not \"live\"",
          "proteus.toml:36:1: upstreams[2].name: must be 1 to 64 letters, digits, hyphens, underscores and dots; what "
          "people call it goes into display_name",
          "proteus.toml:37:1: upstreams[2].command: must not be empty",
          "proteus.toml:38:1: upstreams[2].transprot: is not a known key; did you mean transport?",
          "proteus.toml:39:1: upstreams[3]: url is missing, or command",
          "proteus.toml:41:37: upstreams[3].authentication.token: a secret has no place in a file; name the "
          "environment variable that holds it in token_env",
          "proteus.toml:43:1: contexts.abc.parent: there is no context nowhere",
          "proteus.toml:44:11: contexts.\"s c\": a name must be 1 to 64 letters, digits, hyphens, underscores and dots",
          "proteus.toml:46:1: datasets.mappings: must be a string, not a number",
          "proteus.toml:47:2: upstream: is not a known key", "PORT: must have a port from 0 to 65535",
          "PROTEUS_META_PROPAGATION: must be true or false",
          "--listen: must have an IP address or localhost as its host", "--data: must be a directory"));
  EXPECT_THAT(said, Each(Not(HasSubstr("hunter2"))));
}

TEST(Config, ReportsASyntaxErrorWithItsPosition) {
  EXPECT_THAT(read("[server]\nlisten = \n").said, ElementsAre(StartsWith("proteus.toml:2:1")));
  EXPECT_THAT(read("a = 1\na = 2\n").said, ElementsAre(StartsWith("proteus.toml:2:")));
  EXPECT_THAT(read("x = \"\xff\"").said, ElementsAre(StartsWith("proteus.toml:1:")));
  // A file that cannot be parsed causes no further diagnostics; the environment still does.
  EXPECT_THAT(read("=", {{"PORT", "x"}}).said, ElementsAre(StartsWith("proteus.toml:1:1: "), StartsWith("PORT: ")));
}

TEST(Config, RefusesNumbersThatJsonDoesNotHave) {
  for (const char* number : {"nan", "inf", "-inf"}) {
    EXPECT_THAT(
        read(fmt::format("[[upstreams]]\nname = \"a\"\nurl = \"http://h/\"\n[[upstreams.tools]]\nmatch = [\"t\"]\n"
                         "fixed = {{ x = {} }}\n",
                         number))
            .said,
        ElementsAre("proteus.toml:6:11: upstreams[0].tools[0].fixed.x: is not a finite number, and JSON has no "
                    "other"));
  }
}

TEST(Config, BoundsWhatItReads) {
  EXPECT_THAT(read(std::string(TomlDocument::kMaxBytes + 1, ' ')).said,
              ElementsAre("proteus.toml: the file is over the limit of 8388608 bytes"));
  std::string dotted = "a";
  for (int i = 0; i < 500'000; ++i)
    dotted += ".a";
  EXPECT_THAT(read(dotted + " = 1").said, ElementsAre("proteus.toml:1:32: the key has more than 16 parts"));
  EXPECT_THAT(read("x = '''\n.'''\n[" + dotted + "]").said,
              ElementsAre("proteus.toml:3:33: the key has more than 16 parts"));
  std::string nested = "1";
  for (int i = 0; i < 250; ++i)
    nested = "{a.b.c.d.e.f.g.h.i.j.k.l.m.n.o = " + nested + "}";
  EXPECT_FALSE(read("x = " + nested).said.empty());
  std::string many;
  for (int i = 0; i < 5000; ++i)
    many += fmt::format("k{} = 1\n", i);
  EXPECT_EQ(read(many).said.size(), kMaxDiagnostics);
  EXPECT_THAT(read("[server]\nallowed_hosts = [\"" + std::string(5000, 'a') + "\"]").said,
              ElementsAre("proteus.toml:2:18: server.allowed_hosts[0]: must have at most 4096 bytes"));
}

// REF-01
TEST(Config, LoadsAThousandUpstreamsWithoutLookingUpTheirNames) {
  std::string toml;
  for (int i = 0; i < 1000; ++i)
    toml += fmt::format("[[upstreams]]\nname = \"u{0}\"\nurl = \"http://u{0}.invalid:9/mcp\"\ntimeout = \"7s\"\n", i);
  const auto [config, said] = read(toml);
  ASSERT_TRUE(config);
  EXPECT_THAT(said, IsEmpty()) << "no name of .invalid can be looked up";
  EXPECT_EQ(config->upstreams.size(), 1000U);
  EXPECT_EQ(config->upstreams[999].settings.url, "http://u999.invalid:9/mcp");
}

TEST(Config, WarnsWithoutRefusing) {
  const auto [config, said] = read(R"([server]
listen = "0.0.0.0:80"
[auth]
anonymous = "always"
[[upstreams]]
name = "a"
url = "http://a/"
prefix = ""
[[upstreams]]
name = "b"
url = "http://b/"
prefix = ""
authentication = { type = "bearer", token_env = "UNSET" }
)");
  EXPECT_TRUE(config);
  EXPECT_THAT(said, ElementsAre("proteus.toml:4:1: warning: auth.anonymous: serves everybody who can reach 0.0.0.0:80",
                                "proteus.toml:9:1: warning: upstreams[1]: has the same prefix as upstreams[0], which "
                                "wins every name that both have",
                                "proteus.toml:13:1: warning: upstreams[1].authentication: the environment variable "
                                "UNSET is not set"));
}

// RFC 8414, section 2
TEST(Config, RefusesAnIssuerWithAQueryOrAFragment) {
  for (const auto* const issuer : {"https://id.example?tenant=1", "https://id.example#x", "id.example"}) {
    const auto outcome = read(fmt::format("[[auth.issuers]]\nissuer = \"{}\"\n[[auth.rules]]\n", issuer));
    EXPECT_FALSE(outcome.config) << issuer;
    EXPECT_THAT(outcome.said, Contains(HasSubstr("auth.issuers[0].issuer: "))) << issuer;
  }
}

TEST(Config, BoundsHowLongATokenOutlivesItsEnd) {
  const auto outcome = read("[[auth.issuers]]\nissuer = \"https://id.example\"\nleeway = \"30d\"\n[[auth.rules]]\n");
  EXPECT_FALSE(outcome.config);
  EXPECT_THAT(outcome.said, Contains(HasSubstr("auth.issuers[0].leeway: must be at most 10m")));
}

TEST(Config, ResolvesPathsBesideTheFile) {
  const auto outcome = read_config(
      {SourceFile{"/etc/proteus/proteus.toml", "[server]\ntls = { certificate = \"c.pem\", key = \"/k.pem\" }\n"}, {}},
      {}, fixed_environment({}), Purpose::serve);
  EXPECT_EQ(outcome.config->server.tls.certificate, "/etc/proteus/c.pem");
  EXPECT_EQ(outcome.config->server.tls.key, "/k.pem");
  EXPECT_EQ(outcome.config->datasets.mappings, "/etc/proteus/mappings");
}

}  // namespace
}  // namespace proteus::app
