// SRC-02: what a caller does not see has no influence. For random upstreams, rules, contexts and sessions, the result
// is that of indexes built from the caller's own list alone, scores included.
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/ascii.hpp"
#include "catalog/contexts/contexts.hpp"
#include "catalog/view/catalog.hpp"
#include "catalog/view/view.hpp"
#include "search/testing/searching.hpp"

namespace proteus::search::testing {
namespace {

using catalog::Kind;
using ::testing::ElementsAre;

constexpr std::array<std::string_view, 24> kSomeWords = {
    "invoice",  "customer", "read", "write", "delete", "list",    "file",  "tag",
    "PayPal",   "payPal",   "get",  "fetch", "paypal", "payment", "issue", "user",
    "database", "message",  "文件", "读取",  "repo",   "search",  "page",  "tagged"};

// A random gateway, and a random caller.
class RandomWorld {
 public:
  explicit RandomWorld(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }
  std::string some_word() { return std::string(kSomeWords[below(kSomeWords.size())]); }
  std::string some_words(std::size_t most) {
    std::string text;
    for (std::size_t i = below(most + 1); i > 0; --i)
      text += some_word() + " ";
    return text;
  }
  // Makes names of few words, so that several upstreams have the same names.
  std::string some_name() { return fmt::format("{}_{}{}", latin(), latin(), below(3)); }
  std::string query() {
    std::string text = some_word() + " " + some_words(4);
    if (below(4) == 0) text += " invocie";
    if (below(4) == 0) text += " custmer";
    if (below(4) == 0) text += " paypla";
    if (below(4) == 0) text += " taged";
    return text;
  }

  catalog::SnapshotPointer some_upstream(const std::string& name, std::size_t most) {
    std::vector<std::string> tools;
    for (std::size_t i = below(most) + 1; i > 0; --i)
      tools.push_back(tool(some_name(), some_words(8), {latin(), latin() + "_id"}, below(3) == 0 ? some_words(3) : ""));
    return upstream(name, tools, below(2) == 0 ? some_words(4) : "");
  }

  std::shared_ptr<const catalog::View> view() {
    catalog::Catalog catalog;
    std::vector<catalog::UpstreamName> order;
    for (int i = 0; i < 6; ++i)
      order.emplace_back(fmt::format("{}{}", latin(), i));
    catalog.set_order(order).value();
    for (const auto& name : order)
      catalog.publish(some_upstream(name.value(), 40)).value();
    catalog::Layers layers;
    if (below(3) > 0) {
      std::vector<std::string> patterns;
      for (const auto& name : order) {
        if (below(4) > 0) patterns.push_back(name.value());
      }
      catalog::EntryRules rules;
      if (below(2) == 0) rules.allow = {"*" + latin() + "*", "*" + latin() + "*", "*0", "*1"};
      if (below(2) == 0) rules.deny = {"*" + latin() + "*"};
      layers.access = catalog::Access::only(patterns, rules);
    }
    if (below(2) == 0) {
      catalog::ContextManifest manifest;
      if (below(2) == 0) manifest.exclude = {"*" + latin() + "*"};
      for (int i = 0; i < 20; ++i)
        manifest.tool_supplements[some_name()] = some_words(5) + ".";
      layers.lens = catalog::Contexts::make({{{"c", manifest}}, {}})->lens("c", [](auto) { return true; });
    }
    if (below(2) == 0) layers.front.push_back(some_upstream("session", 10));
    return std::make_shared<const catalog::View>(catalog.current(), std::move(layers));
  }

 private:
  std::string latin() {
    while (true) {
      auto word = some_word();
      if (is_letter(word.front())) return word;
    }
  }

  std::mt19937 random_;
};

// Returns the part as a snapshot that has only what the caller sees.
catalog::SnapshotPointer alone(const catalog::View::Part& part) {
  const catalog::DefinitionList& list = part.snapshot->list(Kind::tool);
  std::vector<std::string> tools;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    if (!std::ranges::binary_search(part.lost, i)) tools.emplace_back(list[i].text);
  }
  return upstream(part.snapshot->upstream().value(), tools, part.snapshot->facts().instructions);
}

using FoundTool = std::tuple<std::uint32_t, std::string, float>;

TEST(Isolation, OfWhatACallerDoesNotSee) {
  std::size_t masked = 0;
  std::size_t reworded = 0;
  std::size_t lost = 0;
  std::size_t found = 0;
  for (unsigned seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomWorld world(seed);
    const auto view = world.view();
    const auto parts = view->parts(Kind::tool);
    const ManualClock clock;
    Indexes indexes(clock);
    const auto shared = indexes.build(parts);
    std::vector<catalog::SnapshotPointer> own;
    std::size_t tools = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      own.push_back(alone(parts[i]));
      tools += own.back()->list(Kind::tool).size();
      lost += parts[i].lost.size();
      for (const auto& piece : shared[i].index->pieces()) {
        masked += piece.hidden.empty() ? 0 : piece.index->size() - piece.seen;
        reworded += piece.hidden.empty() && !piece.positions.empty() ? piece.seen : 0;
      }
    }
    ASSERT_EQ(tools, view->count(Kind::tool));
    const auto only_own = indexed(own);
    for (int i = 0; i < 10; ++i) {
      const std::string text = world.query();
      const std::string second = world.query();
      std::vector<std::string_view> texts = {text};
      if (i % 3 == 0) texts.push_back(second);
      const Query query = Query::read(texts).value();
      std::vector<FoundTool> expected;
      for (const Hit& hit : rank(only_own, query, 12))
        expected.emplace_back(hit.part, own[hit.part]->list(Kind::tool)[hit.position].shown, hit.score);
      std::vector<FoundTool> actual;
      for (const Hit& hit : rank(shared, query, 12))
        actual.emplace_back(hit.part, parts[hit.part].snapshot->list(Kind::tool)[hit.position].shown, hit.score);
      ASSERT_EQ(actual, expected) << text;
      found += actual.size();
    }
  }
  // The random gateways covered all cases.
  EXPECT_GT(masked, 500U);
  EXPECT_GT(reworded, 30U);
  EXPECT_GT(lost, 100U);
  EXPECT_GT(found, 2000U);
}

// What a word can be corrected to does not depend on the form in which a hidden tool has it, although it is read first.
TEST(Isolation, OfTheFormsOfWordsThatACallerDoesNotSee) {
  const auto found = [](const std::string& hidden, const std::string& visible, std::string_view query) {
    const std::vector all = {upstream("one", {tool("a", hidden), tool("b", visible)})};
    const std::vector<std::uint32_t> lost = {0};
    const std::vector<Visible> parts = {{SnapshotIndex::build(*all.front()), lost}};
    return names(all, rank(parts, Query::read(query).value(), 10));
  };
  for (const auto hidden : {"Unrelated.", "PayPal", "paypal"}) {
    EXPECT_THAT(found(hidden, "Refund through paypal.", "paypla"), ElementsAre("b")) << hidden;
    EXPECT_THAT(found(hidden, "Refund through PayPal.", "paypla"), ElementsAre("b")) << hidden;
  }
  for (const auto hidden : {"Unrelated.", "city", "cities"})
    EXPECT_THAT(found(hidden, "Lists cities.", "citeis"), ElementsAre("b")) << hidden;
  EXPECT_EQ(found("tag", "Is tagged.", "taged"), found("Unrelated.", "Is tagged.", "taged"));
}

// A word that counts for no visible tool is not what was meant, whether or not something is hidden.
TEST(Isolation, OfWordsThatCountForNoTool) {
  std::vector<std::string> parameters = {"zanzibar"};
  for (int i = 0; i < 200; ++i)
    parameters.push_back(fmt::format("p{}", i));
  const std::vector all = {upstream("one", {tool("a"), tool("b", "", parameters), tool("c", "Zanziber.")})};
  const std::vector<std::uint32_t> hidden = {0};
  for (const auto lost : {std::span(hidden).first(0), std::span(hidden)}) {
    const std::vector<Visible> parts = {{SnapshotIndex::build(*all.front()), lost}};
    EXPECT_THAT(names(all, rank(parts, Query::read("zanzibra").value(), 10)), ElementsAre("c")) << lost.size();
  }
}

}  // namespace
}  // namespace proteus::search::testing
