#include "catalog/contexts/entry_filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/contexts/access.hpp"
#include "catalog/contexts/contexts.hpp"
#include "catalog/testing/test_support.hpp"

namespace proteus::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::list_of;
using testing::listed;
using testing::resource;
using testing::shown;
using testing::tool;
using testing::uri_template;

std::string hinted(std::string_view name, std::string_view annotations) {
  return fmt::format(R"({{"name":"{}","inputSchema":{{"type":"object"}},"annotations":{}}})", name, annotations);
}

std::string prompt(std::string_view name) { return fmt::format(R"({{"name":"{}"}})", name); }

std::vector<std::string> left(const EntryRules& rules, Kind kind, const std::vector<std::string>& raw,
                              const NameRules& names = {}) {
  return shown(*EntryFilter(rules).through(list_of(kind, raw, names)));
}

bool admits(const EntryRules& rules, Kind kind, std::string_view name) {
  return EntryFilter(rules).admits(kind, {name, name});
}

// OAU-07
TEST(EntryFilter, ComparesTheNameClientsSeeAndNoOther) {
  const std::vector<std::string> raw = {tool("get"), tool("get_all"), tool("set")};
  const NameRules prefixed{"db_", NameStyle::as_is};
  EXPECT_THAT(left({.allow = {"db_get*"}}, Kind::tool, raw, prefixed), ElementsAre("db_get", "db_get_all"));
  EXPECT_THAT(left({.allow = {"get*"}}, Kind::tool, raw, prefixed), IsEmpty());
  EXPECT_THAT(left({.deny = {"get*"}}, Kind::tool, raw, prefixed), ElementsAre("db_get", "db_get_all", "db_set"));
  EXPECT_THAT(left({.allow = {"db_*"}, .deny = {"*_all", "db_s?t"}}, Kind::tool, raw, prefixed), ElementsAre("db_get"));
  const NameRules portable{"db.", NameStyle::portable};
  EXPECT_THAT(left({.allow = {"db_get_all"}}, Kind::tool, {tool("get all"), tool("get")}, portable),
              ElementsAre("db_get_all"));
  EXPECT_THAT(left({.allow = {"db.get all"}}, Kind::tool, {tool("get all")}, portable), IsEmpty())
      << "which is an alias";
}

// OAU-07: the same as in contexts.
TEST(EntryFilter, LeavesAKindThatNoPatternSpeaksOf) {
  const EntryRules tools{.allow = {"get*"}};
  EXPECT_TRUE(admits(tools, Kind::prompt, "x"));
  EXPECT_TRUE(admits(tools, Kind::resource, "test://x"));
  const EntryRules prompts{.allow = {"prompt:a*"}, .deny = {"prompt:ab"}};
  EXPECT_TRUE(admits(prompts, Kind::tool, "x"));
  EXPECT_TRUE(admits(prompts, Kind::prompt, "a"));
  EXPECT_FALSE(admits(prompts, Kind::prompt, "ab"));
  EXPECT_FALSE(admits(prompts, Kind::prompt, "b"));
  const EntryRules nothing{.allow = {}};
  EXPECT_FALSE(admits(nothing, Kind::tool, "x"));
  EXPECT_TRUE(admits(nothing, Kind::prompt, "x"));
  EXPECT_THAT(left({.deny = {"prompt:*"}}, Kind::prompt, {prompt("x")}), IsEmpty());
}

// OAU-07: another spelling of a URI names the same resource.
TEST(EntryFilter, ComparesAUriAsItMayBeRead) {
  const EntryRules rules{.allow = {"resource:file:///docs/*"}, .deny = {"resource:file:///docs/secret/*"}};
  EXPECT_TRUE(admits(rules, Kind::resource, "file:///docs/a"));
  EXPECT_FALSE(admits(rules, Kind::resource, "file:///etc/passwd"));
  EXPECT_FALSE(admits(rules, Kind::resource, "file:///docs/secret/a"));
  EXPECT_FALSE(admits(rules, Kind::resource, "file:///docs/%73ecret/a"));
  EXPECT_FALSE(admits(rules, Kind::resource, "file:///docs/x/../secret/a"));
  EXPECT_FALSE(admits(rules, Kind::resource, "file:///docs/../etc/passwd"));
  EXPECT_FALSE(admits(rules, Kind::resource, "file:///docs/..%2Fsecret/a")) << "which can be read in two ways";
  EXPECT_THAT(left(rules, Kind::resource_template, {uri_template("file:///docs/{name}"), uri_template("test://{x}")}),
              ElementsAre("file:///docs/{name}"));
}

// OAU-07: a `?` after the host of a pattern is a wildcard in the host or begins the query.
TEST(EntryFilter, ComparesAUriWithBothReadingsOfAQuestionMark) {
  const EntryRules denied{.deny = {"resource:db://host?Table=secret*"}};
  EXPECT_FALSE(admits(denied, Kind::resource, "db://host?Table=secret1"));
  EXPECT_FALSE(admits(denied, Kind::resource, "DB://host?Table=secret1"));
  EXPECT_FALSE(admits(denied, Kind::resource, "db://HOST?Table=%73ecret1"));
  EXPECT_TRUE(admits(denied, Kind::resource, "DB://host?Table=open"));
  EXPECT_FALSE(admits({.deny = {"resource:https://h:443?x*"}}, Kind::resource, "HTTPS://h?x=1"));
  EXPECT_FALSE(admits({.deny = {"resource:db://h?st/secret"}}, Kind::resource, "DB://host/secret"));
  EXPECT_THAT(left({.allow = {"resource:mail://inbox{?maxResults}"}}, Kind::resource_template,
                   {uri_template("mail://inbox{?maxResults}"), uri_template("mail://outbox{?maxResults}")}),
              ElementsAre("mail://inbox{?maxResults}"));
}

// OAU-07: the port that a scheme has by default may be written or left out.
TEST(EntryFilter, ComparesAUriWithAndWithoutItsDefaultPort) {
  const auto denies = [](std::string_view pattern, std::string_view uri) {
    return !admits({.deny = {fmt::format("resource:{}", pattern)}}, Kind::resource, uri);
  };
  for (const auto* const uri :
       {"https://h:443/s", "https://H:443/s", "https://h/%73", "https://h:/s", "https://h:0443/s"}) {
    for (const auto* const pattern : {"https://h:*/s*", "*://h:443/s*", "https://h:443/s*", "https://h:0443/s*",
                                      "https://h/s*", "https://h*:443/s*", "*://h/s"})
      EXPECT_TRUE(denies(pattern, uri)) << pattern << ' ' << uri;
    EXPECT_FALSE(denies("https://h:8443/s*", uri)) << uri;
    EXPECT_FALSE(denies("https://h:*/t*", uri)) << uri;
  }
  EXPECT_TRUE(denies("https://h:8443/s*", "https://h:08443/s"));
  EXPECT_FALSE(denies("https://h*:443/s*", "https://h:8443/s"));
  EXPECT_FALSE(denies("https://h/s*", "http://h:443/s"));
  const EntryRules any_port{.allow = {"resource:https://h:*/*"}};
  EXPECT_TRUE(admits(any_port, Kind::resource, "https://h:443/x"));
  EXPECT_TRUE(admits(any_port, Kind::resource, "https://h:8443/x"));
  EXPECT_FALSE(admits(any_port, Kind::resource, "https://h/x")) << "as written";
}

// OAU-07
TEST(EntryFilter, LeavesReadOnlyToolsByWhatTheyDeclare) {
  const std::vector<std::string> raw = {tool("silent"),
                                        hinted("reads", R"({"readOnlyHint":true})"),
                                        hinted("writes", R"({"readOnlyHint":false})"),
                                        hinted("text", R"({"readOnlyHint":"true"})"),
                                        hinted("number", R"({"readOnlyHint":1})"),
                                        hinted("other", R"({"destructiveHint":false})")};
  EXPECT_THAT(left({.read_only = true}, Kind::tool, raw), ElementsAre("reads"));
  EXPECT_THAT(left({.allow = {"t*"}, .read_only = true}, Kind::tool, raw), IsEmpty());
  EXPECT_THAT(left({.read_only = true}, Kind::prompt, {prompt("x")}), ElementsAre("x"));
  EXPECT_THAT(left({.read_only = true}, Kind::resource, {resource("test://x")}), ElementsAre("test://x"));
  // Definitions that are reused from the previous list keep what they declared.
  const auto before = list_of(Kind::tool, raw);
  auto more = raw;
  more.push_back(tool("new"));
  const auto after = list_of(Kind::tool, more, {}, before);
  EXPECT_THAT(shown(*EntryFilter({.read_only = true}).through(after)), ElementsAre("reads"));
}

// OAU-09: callers who may use the same share what was derived for them.
TEST(Access, HasOneFingerprintForRulesThatAreTheSame) {
  const auto access = [](EntryRules rules) { return Access::only({"*"}, std::move(rules)); };
  EXPECT_TRUE(access({}).is_all());
  EXPECT_TRUE(access({.allow = {"*", "x"}}).is_all());
  EXPECT_FALSE(access({.read_only = true}).is_all());
  EXPECT_FALSE(access({.deny = {"x"}}).is_all());
  EXPECT_EQ(Access::only({"a"}).entries(), nullptr);
  EXPECT_EQ(access({.allow = {"a", "b", "a"}}).fingerprint(), access({.allow = {"b", "a"}}).fingerprint());
  const std::set<std::string> different = {
      Access::all().fingerprint(),
      Access::only({}).fingerprint(),
      Access::only({"a"}).fingerprint(),
      Access::only({"a"}, {.read_only = true}).fingerprint(),
      access({.read_only = true}).fingerprint(),
      access({.allow = {"a"}}).fingerprint(),
      access({.allow = {"ab"}}).fingerprint(),
      access({.allow = {"a", "b"}}).fingerprint(),
      access({.deny = {"a"}}).fingerprint(),
      access({.allow = {"a"}, .deny = {"a"}}).fingerprint(),
  };
  EXPECT_EQ(different.size(), 10U);
  const Access one = access({.deny = {"x"}});
  const Access copy = one;  // NOLINT(performance-unnecessary-copy-initialization)
  const auto base = testing::snapshot("a", 1, {.tools = {tool("x"), tool("y")}, .resources = {}, .templates = {}});
  EXPECT_EQ(copy.entries()->through(base), one.entries()->through(base)) << "made once";
}

TEST(Access, KnowsWhatCanNeverBeThere) {
  const auto access = [](EntryRules rules) { return Access::only({"*"}, std::move(rules)); };
  EXPECT_TRUE(Access::all().may_have(Kind::tool));
  EXPECT_FALSE(access({.allow = {}}).may_have(Kind::tool));
  EXPECT_TRUE(access({.allow = {}}).may_have(Kind::prompt));
  EXPECT_FALSE(access({.deny = {"resource:*"}}).may_have(Kind::resource_template));
  EXPECT_TRUE(access({.deny = {"resource:a*"}}).may_have(Kind::resource));
}

class FilteredViews : public ::testing::Test {
 protected:
  FilteredViews() {
    catalog_.set_order(testing::names({"a", "b"})).value();
    publish("a", {hinted("x", R"({"readOnlyHint":false})"), hinted("y", R"({"readOnlyHint":true})")});
    publish("b", {hinted("x", R"({"readOnlyHint":true})"), tool("z")});
  }
  Publication publish(std::string name, std::vector<std::string> tools) {
    return catalog_
        .publish(testing::snapshot(std::move(name), ++version_,
                                   {.tools = std::move(tools), .resources = {}, .templates = {}}))
        .value();
  }
  View view(EntryRules rules, std::shared_ptr<const Lens> lens = nullptr) const {
    return View(catalog_.current(), {Access::only({"*"}, std::move(rules)), {}, std::move(lens)});
  }

  Catalog catalog_;
  std::uint64_t version_ = 0;
};

// OAU-07, AUT-02
TEST_F(FilteredViews, ShowWhatIsLeftAndNothingElse) {
  const View some = view({.allow = {"x", "y"}, .deny = {"y"}});
  EXPECT_THAT(listed(some, Kind::tool), ElementsAre("x"));
  EXPECT_FALSE(some.find(Kind::tool, "y"));
  EXPECT_FALSE(some.find(Kind::tool, "z"));
  EXPECT_EQ(some.count(Kind::tool), 1U);
  EXPECT_FALSE(some.is_shared());
  EXPECT_NE(some.scope(), View(catalog_.current()).scope()) << "a cursor is not good for the other";
}

// AUT-02: an entry that the caller may not use takes no name from another provider.
TEST_F(FilteredViews, GiveANameToTheFirstThatIsLeft) {
  const View reading = view({.read_only = true});
  EXPECT_THAT(listed(reading, Kind::tool), ElementsAre("y", "x"));
  EXPECT_EQ(reading.find(Kind::tool, "x").snapshot->upstream().value(), "b");
  EXPECT_EQ(view({.deny = {"y"}}).find(Kind::tool, "x").snapshot->upstream().value(), "a");
}

// OAU-07: a view changes only if an entry that it shows has changed.
TEST_F(FilteredViews, AreConcernedByWhatIsLeft) {
  const auto before = catalog_.current();
  const auto changed = publish("a", {hinted("x", R"({"readOnlyHint":false,"title":"t"})"),
                                     hinted("y", R"({"readOnlyHint":true})"), tool("more")});
  const auto concerns = [&](const EntryRules& rules) {
    const Layers layers{Access::only({"*"}, rules), {}, {}};
    return concerned(View(before, layers), View(catalog_.current(), layers), changed.changes.front()).has(Kind::tool);
  };
  EXPECT_TRUE(concerns({.allow = {"more"}}));
  EXPECT_TRUE(concerns({.allow = {"x"}}));
  EXPECT_FALSE(concerns({.allow = {"y", "z"}}));
  EXPECT_FALSE(concerns({.read_only = true}));
}

// OAU-07, CTX-02: a context mentions siblings on a tool that the caller can see.
TEST_F(FilteredViews, StandInFrontOfAContext) {
  const auto contexts = Contexts::make({{{"c", {.siblings = {"d"}}}, {"d", {}}}, {}});
  const auto lens = contexts->lens("c", [](std::string_view) { return true; });
  const auto text = [](const View& view, std::string_view name) {
    const Found found = view.find(Kind::tool, name);
    return found ? std::string(found.definition->text) : std::string("(absent)");
  };
  const View all = view({}, lens);
  EXPECT_THAT(text(all, "x"), HasSubstr("Related contexts"));
  const View some = view({.deny = {"x"}}, lens);
  EXPECT_EQ(text(some, "x"), "(absent)");
  EXPECT_THAT(text(some, "y"), HasSubstr("Related contexts"));
  EXPECT_FALSE(some.lens()->admits(Kind::tool, {"x", "x"}));
}

// OAU-07
TEST(EntryPatterns, AreRefusedWhereTheyFitNothing) {
  for (const std::string_view good : {"*", "a.b-c_?*", "prompt:*", "prompt:größe 1", "resource:file:///a b/*"})
    EXPECT_TRUE(check_entry_pattern(good)) << good;
  for (const std::string_view wrong :
       {"", "prompt:", "resource:", "prompts:x", "tool:x", "file:///x", "a b", "a\tb", "prompt:a\nb"})
    EXPECT_FALSE(check_entry_pattern(wrong)) << wrong;
}

}  // namespace
}  // namespace proteus::catalog
