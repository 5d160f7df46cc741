// Tests of proposals for databases that were not made for them.
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
  // Proposes a mapping, writes it, reads it again and validates it, as users do.
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

Introspection source_of(std::vector<TableFacts> tables) {
  Introspection source;
  source.tables = std::move(tables);
  return source;
}

TEST(Proposals, ACommentIsCutAtACharacter) {
  const Introspection source = source_of({{.name = "t",
                                           .comment = std::string(299, 'x') + "é",
                                           .columns = {{.name = "id", .type = "integer"}},
                                           .primary_key = {"id"}}});
  EXPECT_TRUE(parse_mapping(propose({.name = "x", .dsn_env = "X"}, source, nullptr).draft()));
}

TEST(Proposals, WhatAMappingCannotHoldIsLeftOut) {
  Introspection source =
      source_of({{.name = "good", .columns = {{.name = "id", .type = "integer"}}, .primary_key = {"id"}},
                 {.name = "odd key", .columns = {{.name = "i\nd", .type = "integer"}}, .primary_key = {"i\nd"}},
                 {.name = "other_key",
                  .columns = {{.name = "i\nd", .type = "integer"}, {.name = "code", .type = "text", .nullable = false}},
                  .primary_key = {"i\nd"},
                  .unique = {{"code"}}},
                 {.name = "linked",
                  .columns = {{.name = "id", .type = "integer"}, {.name = "other", .type = "integer"}},
                  .primary_key = {"id"}}});
  source.foreign_keys = {{"linked", {"other"}, "other_key", {"i\nd"}}};
  const Proposal proposal = propose({.name = "x", .dsn_env = "X"}, source, nullptr);
  std::vector<std::string> entities;
  for (const auto& entity : proposal.mapping.entities)
    entities.push_back(entity.table + " by " + entity.id_column);
  EXPECT_THAT(entities, testing::ElementsAre("good by id", "other_key by code", "linked by id"));
  EXPECT_THAT(proposal.mapping.relationships, IsEmpty());
  std::vector<std::string> problems;
  for (const auto& problem : proposal.problems)
    problems.push_back(problem.message);
  EXPECT_THAT(problems, testing::ElementsAre(HasSubstr("odd key is left out"), HasSubstr("a column of other_key")));
}

TEST(Proposals, MoreThanAMappingHoldsIsReported) {
  std::vector<TableFacts> tables;
  for (int i = 0; i < 1001; ++i)
    tables.push_back(
        {.name = fmt::format("t{}", i), .columns = {{.name = "id", .type = "integer"}}, .primary_key = {"id"}});
  const Proposal many = propose({.name = "x", .dsn_env = "X"}, source_of(tables), nullptr);
  EXPECT_EQ(many.mapping.entities.size(), 1000U);
  EXPECT_THAT(many.problems.front().message, HasSubstr("at most 1000"));
  EXPECT_TRUE(parse_mapping(many.draft()));

  tables.resize(200);
  for (TableFacts& table : tables) {
    for (int i = 0; i < 40; ++i)
      table.columns.push_back({.name = fmt::format("{}{}", std::string(150, 'c'), i), .type = "integer"});
  }
  const Proposal large = propose({.name = "x", .dsn_env = "X"}, source_of(tables), nullptr);
  EXPECT_THAT(large.problems.front().message, HasSubstr("1048576 bytes"));
}

// Makes texts of characters that mean something in SQL, TOML, JSON and terminals.
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
  // Only names with control characters are left out, each with a problem.
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
