#include "providers/upstream_settings.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "providers/upstream_entry.hpp"

namespace proteus::providers {
namespace {

using namespace std::chrono_literals;
using boost::json::object;
using boost::json::value;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

value json_of(std::string_view text) { return boost::json::parse({text.data(), text.size()}); }

std::vector<std::string> shown(const std::vector<json::Fault>& faults) {
  std::vector<std::string> out;
  for (const json::Fault& fault : faults)
    out.push_back((fault.path.empty() ? "" : fault.path + ": ") + fault.message);
  return out;
}

// Reads an upstream as from a file, and returns the faults.
std::vector<std::string> faults_in(std::string_view text) {
  json::Faults faults;
  read_upstream(json_of(text), {}, json::Place(faults));
  return shown(faults.all());
}

std::vector<std::string> faults_of(const EntryOrFaults& result) {
  return result ? std::vector<std::string>{} : shown(result.error());
}

UpstreamEntry parsed(std::string_view text, const UpstreamSettings& base = {}) {
  auto entry = parse_upstream(json_of(text), base);
  EXPECT_THAT(faults_of(entry), IsEmpty());
  return entry.value_or(UpstreamEntry());
}

constexpr std::string_view kBank = R"({"name": "banking", "url": "http://127.0.0.1:9000/mcp"})";

TEST(UpstreamSettings, HaveTheDefaultsOfTheContract) {
  EXPECT_EQ(boost::json::serialize(show_upstream(parsed(kBank).settings)), boost::json::serialize(json_of(R"({
      "name": "banking", "url": "http://127.0.0.1:9000/mcp", "environment": {}, "pass_environment": [],
      "transport": "auto", "era": "auto", "prefix": "banking_", "refresh_strategy": "cached",
      "meta_propagation_enabled": false, "fail_fast_on_startup": false, "auto_refresh": false,
      "refresh_interval": "5m", "event_driven_refresh": true, "ttl": "0s", "connect_timeout": "5s", "timeout": "30s",
      "call_timeout": "5m", "health_interval": "30s", "max_consecutive_failures": 3, "circuit_failures": 5,
      "circuit_open": "30s", "max_message_bytes": "16MiB", "program_idle": "5m", "names": "as-is", "trust": "auto",
      "anonymous_sessions": "per-call",
      "authentication": {"type": "none"}, "enabled": true, "tools": []})")));
}

TEST(UpstreamSettings, OfACommandSpeakStdio) {
  const auto settings = parsed(R"({"name": "files", "command": ["npx", "-y", "files"], "prefix": "",
                                   "environment": {"HOME": "/tmp"}, "pass_environment": ["API_KEY"]})")
                            .settings;
  EXPECT_EQ(settings.effective_transport(), Transport::stdio);
  EXPECT_EQ(settings.effective_prefix(), "");
  EXPECT_THAT(settings.command, ElementsAre("npx", "-y", "files"));
  EXPECT_EQ(settings.environment.at("HOME"), "/tmp");
}

// PRX-01
TEST(UpstreamSettings, HaveOneOfTwoRefreshStrategies) {
  EXPECT_EQ(parsed(kBank).settings.refresh_strategy, RefreshStrategy::cached);
  EXPECT_EQ(
      parsed(R"({"name": "a", "url": "http://h/", "refresh_strategy": "direct_proxy"})").settings.refresh_strategy,
      RefreshStrategy::direct_proxy);
  EXPECT_THAT(faults_in(R"({"name": "a", "url": "http://h/", "refresh_strategy": "live"})"),
              ElementsAre("refresh_strategy: must be \"cached\" or \"direct_proxy\", not \"live\""));
}

TEST(UpstreamSettings, PropagateMetaByStrategyUnlessTold) {
  UpstreamSettings settings;
  EXPECT_FALSE(settings.propagates_meta());
  settings.refresh_strategy = RefreshStrategy::direct_proxy;
  EXPECT_TRUE(settings.propagates_meta());
  settings.meta_propagation_enabled = false;
  EXPECT_FALSE(settings.propagates_meta());
}

// REF-23
TEST(UpstreamSettings, RefuseWhatCannotWork) {
  const auto url_fault = [](std::string_view url) {
    return faults_in(boost::json::serialize(object{{"name", "a"}, {"url", std::string(url)}}));
  };
  EXPECT_THAT(url_fault("not a url"), ElementsAre(HasSubstr("url: ")));
  EXPECT_THAT(url_fault("ftp://host/"), ElementsAre("url: URL 'ftp://host/' must begin with http:// or https://"));
  EXPECT_THAT(url_fault("http://"), ElementsAre("url: URL 'http://' has no host"));
  EXPECT_THAT(url_fault("http:///mcp"), ElementsAre("url: URL 'http:///mcp' has no host"));
  EXPECT_THAT(
      url_fault("http://me:hunter2@host/"),
      ElementsAre(::testing::AllOf(HasSubstr("must not hold a user name or password"), Not(HasSubstr("hunter2")))));
  for (const std::string key :
       {"refresh_interval", "health_interval", "connect_timeout", "timeout", "call_timeout", "circuit_open"}) {
    EXPECT_THAT(faults_in(R"({"name": "a", "url": "http://h/", ")" + key + R"(": "0s"})"),
                ElementsAre(key + ": must be above zero"));
    EXPECT_THAT(faults_in(R"({"name": "a", "url": "http://h/", ")" + key + R"(": "-5s"})"),
                ElementsAre(key + ": must not be negative"));
  }
  for (const std::string key : {"max_consecutive_failures", "circuit_failures"})
    EXPECT_THAT(faults_in(R"({"name": "a", "url": "http://h/", ")" + key + R"(": 0})"),
                ElementsAre(key + ": must be above zero"));
  EXPECT_THAT(faults_in(R"({"name": "a", "url": "http://h/", "ttl": "0s"})"), IsEmpty());
}

TEST(UpstreamSettings, RefuseNamesAndPrefixesThatNoToolCanHave) {
  for (const std::string name :
       {"", "a b", "a/b", "..", "ä", "a\\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    EXPECT_THAT(faults_in(R"({"name": ")" + name + R"(", "url": "http://h/"})"),
                ElementsAre("name: must be 1 to 64 letters, digits, hyphens, underscores and dots; what people call "
                            "it goes into display_name"))
        << name;
  }
  EXPECT_THAT(faults_in(R"({"name": "a.b-c_D9", "url": "http://h/", "prefix": "x y"})"),
              ElementsAre(HasSubstr("prefix: must be at most 65 characters that a tool's name may have")));
}

// PRX-22
TEST(UpstreamSettings, MayHaveANameForPeople) {
  const auto entry = parsed(R"({"name": "bank", "display_name": "Dynamic Banking – 銀行", "url": "http://h/"})");
  EXPECT_EQ(entry.settings.label(), "bank (Dynamic Banking – 銀行)");
  EXPECT_EQ(show_upstream(entry.settings).at("display_name"), "Dynamic Banking – 銀行");
  EXPECT_EQ(restore_upstream(write_upstream(entry), {}, {}).value().settings, entry.settings);
  EXPECT_EQ(parsed(kBank).settings.label(), "banking");
  for (const std::string_view name : {"a\\nb", "\\u001b[2J", "\\u0085", "\\u202ex", "\\u2066x", "\\u2028"}) {
    EXPECT_THAT(faults_in(fmt::format(R"({{"name": "a", "display_name": "{}", "url": "http://h/"}})", name)),
                ElementsAre(HasSubstr("display_name: must be at most 200 bytes of UTF-8, without control characters")))
        << name;
  }
  json::Faults faults;
  UpstreamSettings defaults;
  read_upstream_defaults(json_of(R"({"display_name": "All"})"), defaults, json::Place(faults));
  EXPECT_THAT(shown(faults.all()), ElementsAre("display_name: belongs to one upstream, and cannot be a default"));
}

TEST(UpstreamSettings, NeedAUrlOrACommandAndNotBoth) {
  EXPECT_THAT(faults_in("{}"), ElementsAre("name is missing", "url is missing, or command"));
  EXPECT_THAT(faults_in(R"({"name": "a", "url": "http://h/", "command": ["x"]})"),
              ElementsAre("command: an upstream has a url or a command, not both"));
  EXPECT_THAT(faults_in(R"({"name": "a", "command": []})"), ElementsAre("command: must not be empty"));
  EXPECT_THAT(faults_in(R"({"name": "a", "command": "npx"})"),
              ElementsAre("command: must be a list of strings, not a string"));
  EXPECT_THAT(faults_in(R"({"name": "a", "command": ["x"], "transport": "sse"})"),
              ElementsAre("transport: must be \"stdio\" for a command"));
  EXPECT_THAT(faults_in(R"({"name": "a", "url": "http://h/", "transport": "stdio"})"),
              ElementsAre("transport: must be \"streamable-http\" or \"sse\" for a url"));
  EXPECT_THAT(faults_in(R"({"name": "a", "url": "http://h/", "environment": {"1X": "y"}})"),
              ElementsAre(HasSubstr("environment.1X: must be the name of an environment variable"),
                          "environment: is for a command, and this upstream has a url"));
}

TEST(Authentication, NamesTheVariableThatHoldsTheSecret) {
  const auto fault = [](std::string_view authentication) {
    return faults_in(R"({"name": "a", "url": "http://h/", "authentication": )" + std::string(authentication) + "}");
  };
  EXPECT_THAT(fault(R"({"type": "bearer", "token_env": "TOKEN"})"), IsEmpty());
  EXPECT_THAT(fault(R"({"type": "basic", "username": "me", "password_env": "PASSWORD"})"), IsEmpty());
  EXPECT_THAT(fault(R"({"type": "header", "name": "X-Api-Key", "value_env": "KEY"})"), IsEmpty());
  EXPECT_THAT(fault(R"({"type": "bearer"})"), ElementsAre("authentication: token_env is missing"));
  EXPECT_THAT(fault(R"({"type": "basic"})"),
              ElementsAre("authentication: username is missing", "authentication: password_env is missing"));
  EXPECT_THAT(fault(R"({"type": "header", "name": "Host", "value_env": "V"})"),
              ElementsAre("authentication.name: names a header that the protocol itself uses"));
  EXPECT_THAT(fault(R"({"type": "none", "token_env": "TOKEN"})"),
              ElementsAre("authentication.token_env: belongs to type \"bearer\", and the type is \"none\""));
  EXPECT_THAT(
      fault(R"({"type": "magic"})"),
      ElementsAre(
          "authentication.type: must be \"none\", \"bearer\", \"basic\", \"header\" or \"oauth\", not \"magic\""));
}

TEST(Authentication, HoldsALiteralOnlyOverTheApi) {
  constexpr std::string_view kLiteral =
      R"({"name": "a", "url": "http://h/", "authentication": {"type": "bearer", "token": "hunter2"}})";
  EXPECT_THAT(faults_in(kLiteral), ElementsAre("authentication.token: a secret has no place in a file; name the "
                                               "environment variable that holds it in token_env"));
  EXPECT_EQ(parsed(kLiteral).settings.authentication.token.reveal(), "hunter2");
}

TEST(Authentication, BecomesAHeader) {
  const auto variables = fixed_environment({{"TOKEN", "t0"}, {"BAD", "a\r\nX: y"}});
  const auto header = [&](const Authentication& authentication) {
    const auto made = credentials(authentication, variables);
    if (!made) return "error: " + made.error().message();
    return *made ? (*made)->header + ": " + (*made)->value.reveal() : "none";
  };
  Authentication authentication;
  EXPECT_EQ(header(authentication), "none");
  authentication.type = Authentication::Type::bearer;
  authentication.token_env = "TOKEN";
  EXPECT_EQ(header(authentication), "Authorization: Bearer t0");
  authentication.token_env = "UNSET";
  EXPECT_EQ(header(authentication), "error: the environment variable UNSET is not set");
  authentication.token_env = "BAD";
  EXPECT_EQ(header(authentication),
            "error: the environment variable BAD holds a control character, which no header can");
  authentication = {};
  authentication.type = Authentication::Type::basic;
  authentication.username = "me";
  authentication.password = Secret("pw");
  EXPECT_EQ(header(authentication), "Authorization: Basic bWU6cHc=");
  authentication = {};
  authentication.type = Authentication::Type::header;
  authentication.name = "X-Api-Key";
  authentication.value_env = "TOKEN";
  EXPECT_EQ(header(authentication), "X-Api-Key: t0");
}

TEST(UpstreamDefaults, AreTheLayerBelow) {
  UpstreamSettings base;
  json::Faults faults;
  read_upstream_defaults(json_of(R"({"timeout": "7s", "prefix": "", "era": "modern"})"), base, json::Place(faults));
  EXPECT_TRUE(faults.empty());
  const auto entry = parsed(R"({"name": "a", "url": "http://h/", "era": "auto"})", base);
  EXPECT_EQ(entry.settings.timeout, 7s);
  EXPECT_EQ(entry.settings.effective_prefix(), "");
  EXPECT_EQ(entry.settings.era, std::nullopt);
  EXPECT_THAT(entry.given, UnorderedElementsAre("name", "url", "era"));

  read_upstream_defaults(json_of(R"({"name": "x", "url": "http://h/", "command": ["x"], "timeout": "0s"})"), base,
                         json::Place(faults));
  EXPECT_THAT(shown(faults.all()),
              ElementsAre("name: belongs to one upstream, and cannot be a default",
                          "url: belongs to one upstream, and cannot be a default",
                          "command: belongs to one upstream, and cannot be a default", "timeout: must be above zero"));
}

TEST(UpstreamApi, TakesAnIntervalInSecondsThatTurnsAutoRefreshOn) {
  const auto entry = parsed(R"({"name": "a", "url": "http://h/", "auto_refresh_interval": 90})");
  EXPECT_TRUE(entry.settings.auto_refresh);
  EXPECT_EQ(entry.settings.refresh_interval, 90s);
  EXPECT_EQ(parsed(R"({"name": "a", "url": "http://h/", "auto_refresh_interval": 0.5})").settings.refresh_interval,
            500ms);
  EXPECT_FALSE(parsed(R"({"name": "a", "url": "http://h/", "auto_refresh_interval": null})").settings.auto_refresh);
  const auto fault = [](std::string_view keys) {
    return faults_of(parse_upstream(json_of(R"({"name": "a", "url": "http://h/", )" + std::string(keys) + "}"), {}));
  };
  EXPECT_THAT(fault(R"("auto_refresh_interval": 0)"), ElementsAre("auto_refresh_interval: must be above zero"));
  EXPECT_THAT(fault(R"("auto_refresh_interval": -1)"), ElementsAre("auto_refresh_interval: must be above zero"));
  EXPECT_THAT(fault(R"("auto_refresh_interval": 1e300)"),
              ElementsAre(HasSubstr("auto_refresh_interval: must be from")));
  EXPECT_THAT(fault(R"("auto_refresh_interval": "5m")"),
              ElementsAre("auto_refresh_interval: must be a number of seconds, not a string"));
  EXPECT_THAT(fault(R"("auto_refresh_interval": 5, "auto_refresh": false)"),
              ElementsAre("auto_refresh_interval: turns auto_refresh on, and auto_refresh is false"));
  EXPECT_THAT(faults_in(R"({"name": "a", "url": "http://h/", "auto_refresh_interval": 5})"),
              ElementsAre("auto_refresh_interval: is not a known key; did you mean auto_refresh?"));
}

TEST(UpstreamApi, PatchesWhatIsNamedAndKeepsTheRest) {
  UpstreamSettings base;
  base.timeout = 7s;
  const auto entry = parsed(R"({"name": "a", "url": "http://h/", "timeout": "9s",
                                "authentication": {"type": "bearer", "token": "hunter2"}})",
                            base);
  const auto patched = patch_upstream(entry, json_of(R"({"ttl": "1m", "timeout": null})"), base);
  ASSERT_THAT(faults_of(patched), IsEmpty());
  EXPECT_EQ(patched->settings.ttl, 1min);
  EXPECT_EQ(patched->settings.timeout, 7s);
  EXPECT_EQ(patched->settings.authentication.token.reveal(), "hunter2");
  EXPECT_THAT(patched->given, UnorderedElementsAre("name", "url", "authentication", "ttl"));

  const auto moved = patch_upstream(entry, json_of(R"({"url": null, "command": ["x"], "authentication": null})"), base);
  ASSERT_THAT(faults_of(moved), IsEmpty());
  EXPECT_EQ(moved->settings.effective_transport(), Transport::stdio);

  EXPECT_THAT(faults_of(patch_upstream(entry, json_of(R"({"name": "b"})"), base)),
              ElementsAre("name: cannot change; delete the upstream and create another"));
  EXPECT_THAT(faults_of(patch_upstream(entry, json_of(R"({"name": "a", "tll": null, "timeout": "0s"})"), base)),
              UnorderedElementsAre("tll: is not a known key; did you mean ttl?", "timeout: must be above zero"));
  EXPECT_THAT(faults_of(patch_upstream(entry, json_of("[]"), base)), ElementsAre("must be a table, not a list"));
}

TEST(UpstreamApi, OverridesAnUpstreamOfTheFile) {
  json::Faults faults;
  const auto from_file = read_upstream(json_of(kBank), {}, json::Place(faults));
  const auto over = patch_upstream({.settings = from_file.settings, .given = {}},
                                   json_of(R"({"refresh_strategy": "direct_proxy"})"), from_file.settings);
  ASSERT_THAT(faults_of(over), IsEmpty());
  EXPECT_EQ(over->settings.url, from_file.settings.url);
  EXPECT_EQ(boost::json::serialize(write_upstream(*over)), R"({"refresh_strategy":"direct_proxy"})");
}

// REF-22
TEST(UpstreamDescriptor, HoldsNoSecretAndReadsBackTheSame) {
  for (const std::string_view authentication :
       {R"({"type": "bearer", "token": "hunter2"})", R"({"type": "basic", "username": "me", "password": "hunter2"})",
        R"({"type": "header", "name": "X-Key", "value": "hunter2"})"}) {
    const auto entry = parsed(R"({"name": "a", "url": "http://h/", "era": "legacy", "prefix": "", "ttl": "90s",
                                  "names": "portable", "trust": "pin", "circuit_failures": 9, "authentication": )" +
                              std::string(authentication) + "}");
    const object written = write_upstream(entry);
    EXPECT_THAT(boost::json::serialize(written), Not(HasSubstr("hunter2")));
    EXPECT_THAT(boost::json::serialize(show_upstream(entry.settings)), Not(HasSubstr("hunter2")));
    const object secrets = write_upstream_secrets(entry);
    EXPECT_EQ(secrets.size(), 1U);
    EXPECT_EQ(secrets.at("authentication").as_object().size(), 1U);
    const auto restored = restore_upstream(written, secrets, {});
    ASSERT_THAT(faults_of(restored), IsEmpty());
    EXPECT_TRUE(*restored == entry);
  }
  const auto plain = parsed(R"({"name": "a", "command": ["x"], "environment": {"A": "b"}, "auto_refresh": true})");
  EXPECT_THAT(write_upstream_secrets(plain), IsEmpty());
  EXPECT_TRUE(restore_upstream(write_upstream(plain), {}, {}).value() == plain);
  EXPECT_TRUE(parse_upstream(write_upstream(plain), {}).value() == plain);
}

TEST(UpstreamDescriptor, FollowsItsBaseWhereNothingWasGiven) {
  UpstreamSettings base;
  const auto entry = parsed(R"({"name": "a", "url": "http://h/", "timeout": "30s"})", base);
  base.timeout = 1s;
  base.call_timeout = 2s;
  const auto restored = restore_upstream(write_upstream(entry), {}, base);
  ASSERT_THAT(faults_of(restored), IsEmpty());
  EXPECT_EQ(restored->settings.timeout, 30s);
  EXPECT_EQ(restored->settings.call_timeout, 2s);
}

// OAU-08
TEST(UpstreamSettings, SayWhichScopesEntriesRequire) {
  const auto entry = parse_upstream(
      json_of(R"({"name":"a","url":"http://a/","tools":[{"match":["delete_*"],"scopes":["write","delete"]}]})"), {});
  ASSERT_TRUE(entry);
  EXPECT_THAT(required_scopes(entry->settings.tools)->of(catalog::Kind::tool, "delete_all"),
              ElementsAre("delete", "write"));
  EXPECT_EQ(parse_upstream(write_upstream(*entry), {})->settings, entry->settings) << "it is written as it is read";
  EXPECT_EQ(required_scopes({{.match = {"*"}, .scopes = {}}}), nullptr);
  EXPECT_THAT(faults_in(R"({"name":"a","url":"http://a/","tools":[{"scopes":["a b"]},{"match":["x y"]}]})"),
              UnorderedElementsAre(HasSubstr("tools[0]: match"), HasSubstr("tools[0].scopes[0]: "),
                                   HasSubstr("tools[1].match[0]: ")));
}

constexpr std::string_view kShaped =
    R"({"name":"a","url":"http://a/","enabled":false,"tools":[)"
    R"({"match":["search"],"rename":"find","title":"Find","description":"","append":"More.","hidden":false,)"
    R"("fixed":{"tenant":"acme","deep":{"a":[1,null]}},"defaults":{"limit":20},"confirm":"destructive",)"
    R"("scopes":["x"],"timeout":"10m"},{"match":["prompt:p*"],"scopes":["y"]}]})";

// SHP-01, SHP-05
TEST(ToolTables, AreReadAndWrittenAsTheyAre) {
  const auto entry = parse_upstream(json_of(kShaped), {}).value();
  EXPECT_FALSE(entry.settings.enabled);
  const ToolSettings& tool = entry.settings.tools.at(0);
  EXPECT_EQ(tool.rename, "find");
  EXPECT_EQ(tool.description, "");
  EXPECT_EQ(tool.fixed.at("deep"), json_of(R"({"a":[1,null]})"));
  EXPECT_EQ(tool.confirm, catalog::Confirm::destructive);
  EXPECT_EQ(tool.timeout, 10min);
  EXPECT_EQ(parse_upstream(write_upstream(entry), {}).value().settings, entry.settings);
  EXPECT_TRUE(tool.shapes());
  EXPECT_FALSE(entry.settings.tools.at(1).shapes());
  EXPECT_EQ(shape_of({}), nullptr);
  EXPECT_TRUE(shape_of({entry.settings.tools.at(1)})->is_plain());
  EXPECT_FALSE(shape_of(entry.settings.tools)->is_plain());
}

// SHP-01
TEST(ToolTables, NameTheFaultsInThem) {
  const auto faults = [](std::string_view tables) {
    return faults_in(fmt::format(R"({{"name":"a","url":"http://a/","tools":[{}]}})", tables));
  };
  EXPECT_THAT(faults(R"({"match":["x*"],"rename":"y"})"),
              ElementsAre("tools[0].rename: is for one tool: match must be its name, without a wildcard"));
  EXPECT_THAT(faults(R"({"match":["x","z"],"rename":"y"})"), ElementsAre(HasSubstr("tools[0].rename: is for one")));
  EXPECT_THAT(faults(R"({"match":["x"],"rename":"a b"})"), ElementsAre(HasSubstr("tools[0].rename: ")));
  EXPECT_THAT(faults(R"({"match":["x"],"rename":"z"},{"match":["y"],"rename":"z"})"),
              ElementsAre("tools[1].rename: x is renamed to the same"));
  EXPECT_THAT(faults(R"({"match":["x"],"fixed":{"a":1},"defaults":{"a":2}})"),
              ElementsAre("tools[0].defaults.a: is fixed, and needs no default"));
  EXPECT_THAT(faults(R"({"match":["x","resource:y"],"hidden":true})"),
              ElementsAre("tools[0].match[1]: prompts and resources have no keys but scopes"));
  EXPECT_THAT(faults(R"({"match":["x"],"confirm":"maybe"})"), ElementsAre(HasSubstr("tools[0].confirm: must be")));
  EXPECT_THAT(faults(R"({"match":["x"],"timeout":"0s","hide":true})"),
              UnorderedElementsAre(HasSubstr("tools[0].timeout: "), HasSubstr("tools[0].hide: is not a known key")));
}

}  // namespace
}  // namespace proteus::providers
