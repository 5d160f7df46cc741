#include "providers/offer.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace proteus::providers {
namespace {

using catalog::Kind;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kPay = R"({"name":"pay","inputSchema":{"type":"object"}})";
constexpr std::string_view kAsk = R"({"name":"ask"})";

class Offers : public ::testing::Test {
 protected:
  // Makes an offer of tools and prompts; a kind without a value was not read.
  Offer make(std::optional<std::vector<std::string_view>> tools, std::optional<std::vector<std::string_view>> prompts,
             const Offer& previous = {}) {
    catalog::RawListing raw;
    raw.definitions[Kind::tool] = std::move(tools);
    raw.definitions[Kind::prompt] = std::move(prompts);
    return maker.make(++version, std::move(raw), previous).value();
  }

  OfferMaker maker{
      .upstream = catalog::UpstreamName("up"), .rules = {}, .limits = {}, .pins = nullptr, .shape = nullptr};
  std::uint64_t version = 0;
};

// REF-34
TEST_F(Offers, KeepAKindThatWasNotRead) {
  const Offer first = make({{kPay}}, {{kAsk}});
  const Offer second = make(std::nullopt, {{}}, first);
  EXPECT_EQ(second.served->list(Kind::tool).size(), 1U);
  EXPECT_EQ(second.served->list(Kind::prompt).size(), 0U);
  EXPECT_THAT(second.faults, IsEmpty());
}

// REF-34
TEST_F(Offers, KeepAKindThatIsOverItsLimitAndTakeTheOthers) {
  maker.limits.definitions = 1;
  const Offer first = make({{kPay}}, {{}});
  const Offer second = make({{kPay, R"({"name":"more","inputSchema":{"type":"object"}})"}}, {{kAsk}}, first);
  EXPECT_EQ(second.served->list(Kind::tool).size(), 1U);
  EXPECT_EQ(second.served->list(Kind::prompt).size(), 1U);
  ASSERT_EQ(second.faults.size(), 1U);
  EXPECT_THAT(second.faults[0].message, HasSubstr("tools/list"));
  EXPECT_TRUE(second.failure);
}

// REF-34: a list that cannot be read takes back nothing that a person ratified, not even just after a restart.
TEST_F(Offers, KeepWhatIsRatifiedOfAKindThatWasNotRead) {
  maker.pins = std::make_shared<UpstreamPins>("up", std::vector<store::PinRecord>());
  make({{kPay}}, {{}});
  for (const auto& [id, proposal] : maker.pins->posted()) {
    ASSERT_TRUE(maker.pins->take({.upstream = "up",
                                  .kind = proposal->kind,
                                  .name = proposal->name,
                                  .hash = proposal->hash,
                                  .verdict = store::Verdict::ratified,
                                  .definition = proposal->after,
                                  .by = "ada",
                                  .at = {}}));
  }
  const Offer read = make({{kPay}}, {{}});
  ASSERT_EQ(read.served->list(Kind::tool).size(), 1U);
  const Offer restarted{.listed = nullptr, .trusted = read.trusted, .served = read.served};
  EXPECT_EQ(make(std::nullopt, {{}}, restarted).served->list(Kind::tool).size(), 1U);
}

// SHP-01, SHP-03: what is kept and judged is the upstream's own; what is served is shaped.
TEST_F(Offers, ServeShapedToolsAndKeepTheOthersTrusted) {
  maker.shape = std::make_shared<const catalog::Shape>(
      std::vector<catalog::ToolShape>{{.match = {"pay"}, .rename = "send"}, {.match = {"gone"}, .title = "Gone"}});
  const Offer first = make({{kPay}}, {{kAsk}});
  EXPECT_NE(first.trusted->list(Kind::tool).find("pay"), nullptr);
  EXPECT_NE(first.served->list(Kind::tool).find("send"), nullptr);
  EXPECT_EQ(first.shaping.warnings.size(), 1U);
  const Offer second = make({{kPay}}, {{kAsk}}, first);
  EXPECT_EQ(second.served->lists()[Kind::tool], first.served->lists()[Kind::tool]) << "nothing was done again";
  EXPECT_EQ(second.shaping, first.shaping);
  EXPECT_EQ(second.served->lists()[Kind::prompt], second.listed->lists()[Kind::prompt]);
}

}  // namespace
}  // namespace proteus::providers
