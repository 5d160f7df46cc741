// What a proposal makes of databases that nobody made for it.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/propose/propose.hpp"
#include "datasets/propose/validate.hpp"
#include "datasets/sources/workup.hpp"
#include "datasets/testing/source_fixture.hpp"

namespace proteus::datasets {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ProposalsTest : public test::OnEachSource {
 protected:
  // Proposes, writes, reads again and validates: the way a mapping takes.
  Mapping propose_and_validate(const Ontology* ontology = nullptr) {
    const Introspection source = open()->introspect({}).value();
    const Proposal proposal = propose({.name = "shop", .dsn_env = "SHOP_DSN"}, source, ontology);
    for (const auto& problem : proposal.problems)
      problems.push_back(problem.message);
    const auto parsed = parse_mapping(proposal.draft());
    if (!parsed) throw std::runtime_error(show("draft", parsed.error().front()));
    for (const auto& problem : validate(*parsed, source, ontology))
      problems.push_back(problem.message);
    return parsed->mapping;
  }

  std::vector<std::string> problems;
};

std::vector<std::string> facts(const Workup& workup) {
  std::vector<std::string> all;
  for (const auto& [name, value] : workup.attributes)
    all.push_back(fmt::format("{}={}", name, to_text(value)));
  for (const auto& one : workup.relationships)
    all.push_back(fmt::format("{}{} {} {}", one.direction == Direction::outgoing ? "> " : "< ", one.type, one.peer->ref,
                              one.peer->name));
  return all;
}

// DAT-19, DAT-18: eleven tables, and facts that were checked by hand
TEST_P(ProposalsTest, AProposalOfAPublicShapeAnswersCorrectly) {
  database->execute(store::test::bytes_of_file(PROTEUS_SOURCE_DIR "/tests/fixtures/music_store.sql"));
  const std::string before = database->fingerprint();
  const Plan plan(propose_and_validate(), "hash");
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(plan.mapping().entities.size(), 10U);
  EXPECT_EQ(plan.mapping().relationships.size(), 10U);
  const auto source = open();
  const auto ask = [&](std::string entity, std::string type = {}) {
    return work_up(plan, *source, {.entity = std::move(entity), .type = std::move(type)}, {}).value();
  };
  EXPECT_THAT(facts(ask("Night Ferry")),
              UnorderedElementsAre("> HAS_ARTIST Artist/1 Harbour Lights", "< HAS_ALBUM Track/3 Gangway",
                                   "< HAS_ALBUM Track/4 Crossing"));
  EXPECT_THAT(facts(ask("Gangway")),
              UnorderedElementsAre("Composer=Marlow", "Milliseconds=180000", "Bytes=1", "UnitPrice=0.99",
                                   "> HAS_ALBUM Album/2 Night Ferry", "> HAS_MEDIA_TYPE MediaType/1 Lossless file",
                                   "> HAS_GENRE Genre/1 Rock", "< HAS_TRACK InvoiceLine/3 3",
                                   "< HAS_TRACK Playlist/1 Evening", "< HAS_TRACK Playlist/2 Work"));
  EXPECT_THAT(facts(ask("Evening")),
              UnorderedElementsAre("> HAS_TRACK Track/1 First Bell", "> HAS_TRACK Track/3 Gangway"));
  EXPECT_THAT(facts(ask("Empty")), IsEmpty());
  EXPECT_THAT(facts(ask("Birch")),
              UnorderedElementsAre("Title=Sales Manager", "HireDate=2020-05-01", "City=Port",
                                   "> REPORTS_TO Employee/1 Alder", "< REPORTS_TO Employee/3 Cedar"));
  EXPECT_THAT(facts(ask("pia@shop.test")), Contains("< SUPPORT_REP Customer/2 Egret"));
  const Workup invoice = ask("Invoice/100");
  EXPECT_THAT(facts(invoice), UnorderedElementsAre("InvoiceDate=2024-01-02", "BillingCity=Quay", "Total=2.28",
                                                   "> HAS_CUSTOMER Customer/1 Dove", "< HAS_INVOICE InvoiceLine/1 1",
                                                   "< HAS_INVOICE InvoiceLine/2 2"));
  EXPECT_EQ(ask("Dove").status, WorkupStatus::ambiguous);
  EXPECT_EQ(ask("Dove").candidates.size(), 2U);
  EXPECT_EQ(ask("Offcut").status, WorkupStatus::found);
  EXPECT_EQ(ask("1", "artist").entity->name, "Harbour Lights");
  EXPECT_EQ(database->fingerprint(), before);
}

TEST_P(ProposalsTest, AnOntologyNamesWhatIsProposed) {
  test::make_company(*database);
  const auto ontology = parse_ontology(R"(
[[entity_types]]
name = "Employee"
[[entity_types]]
name = "Department"
[[relationship_types]]
name = "MEMBER_OF"
domain = "Employee"
range = "Department"
)");
  const Mapping mapping = propose_and_validate(&ontology.value());
  EXPECT_EQ(mapping.entity_of("employees")->type, "Employee");
  EXPECT_THAT(mapping.relationship_types(), Contains("MEMBER_OF"));
  EXPECT_THAT(problems, Contains(HasSubstr("project is not an entity type of the ontology")));
}

// Texts made of what SQL, TOML, JSON and terminals give a meaning to.
class Hostile {
 public:
  std::string text() {
    static const std::vector<std::string> kParts = {"\"",
                                                    "'",
                                                    "`",
                                                    ";",
                                                    "--",
                                                    "/*",
                                                    "*/",
                                                    "\\",
                                                    "%",
                                                    "_",
                                                    "$1",
                                                    "?",
                                                    ":x",
                                                    "\n",
                                                    "\t",
                                                    "[",
                                                    "]",
                                                    "{",
                                                    "}",
                                                    "#",
                                                    "=",
                                                    " OR 1=1",
                                                    " UNION SELECT ",
                                                    "DROP TABLE x",
                                                    "ä",
                                                    "漢",
                                                    "\xF0\x9F\x94\xA5",
                                                    "\xE2\x80\xAE",
                                                    "a",
                                                    "B",
                                                    " ",
                                                    ".",
                                                    "/",
                                                    "0",
                                                    "''",
                                                    "\"\"",
                                                    "$$",
                                                    "E'\\x00'",
                                                    "(",
                                                    ")",
                                                    "||",
                                                    "\x7f"};
    std::string made;
    const int parts = 1 + static_cast<int>(random_() % 6);
    for (int i = 0; i < parts; ++i)
      made += kParts[random_() % kParts.size()];
    // PostgreSQL cuts names at 63 bytes.
    return fmt::format("{}{}", take_text(made, 50).text, ++count_);
  }

 private:
  std::mt19937 random_{20261115};  // NOLINT: the same in each run
  int count_ = 0;
};

std::string doubled(const std::string& text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  return out + quote;
}

// DAT-17: a thousand hostile names and values, none of which means anything to the source
TEST_P(ProposalsTest, AThousandHostileNamesAndValuesMeanNothing) {
  Hostile hostile;
  std::vector<std::string> names;
  constexpr int kTables = 50;
  std::string sql;
  for (int i = 0; i < kTables; ++i) {
    const std::string table = doubled(hostile.text(), '"');
    sql += fmt::format("CREATE TABLE {0} (id integer PRIMARY KEY, name text, {1} text);", table,
                       doubled(hostile.text(), '"'));
    for (int row = 0; row < 9; ++row) {
      names.push_back(hostile.text());
      sql += fmt::format("INSERT INTO {} VALUES ({}, {}, {});", table, row, doubled(names.back(), '\''),
                         doubled(hostile.text(), '\''));
    }
  }
  database->execute(sql);
  const std::string before = database->fingerprint();
  const Plan plan(propose_and_validate(), "");
  // Names with control characters are left out, with a problem each; nothing else is.
  EXPECT_GT(plan.mapping().entities.size(), 25U);
  for (const auto& problem : problems)
    EXPECT_THAT(problem, HasSubstr("left out"));
  const auto source = open();
  int found = 0;
  for (const auto& name : names) {
    const auto workup = work_up(plan, *source, {.entity = name}, {});
    ASSERT_TRUE(workup) << workup.error().message();
    if (workup->status == WorkupStatus::found && workup->resolution == Resolution::name) {
      ++found;
      EXPECT_EQ(to_text(text_value(workup->entity->name)), name);
    }
    EXPECT_NE(workup->status, WorkupStatus::ambiguous) << name;
  }
  EXPECT_GE(found, static_cast<int>(9 * plan.mapping().entities.size()) - 4);
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(work_up(plan, *source, {.entity = hostile.text(), .hops = 2}, {}));
  EXPECT_EQ(database->fingerprint(), before);
}

INSTANTIATE_TEST_SUITE_P(On, ProposalsTest, testing::ValuesIn(test::source_kinds()), test::name_of);

}  // namespace
}  // namespace proteus::datasets
