// What databases may hold and allow, on each kind of source. DAT-18
#include <algorithm>

#include <gmock/gmock.h>

#include "datasets/propose/propose.hpp"
#include "datasets/propose/validate.hpp"
#include "datasets/testing/source_fixture.hpp"

namespace proteus::datasets {
namespace {

using test::gaps;
using test::refs;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

class SourcesTest : public test::OnEachSource {};

// People in teams, through a table between them.
Mapping members_of_teams() {
  Mapping mapping{.name = "members", .dsn_env = "X"};
  mapping.entities.push_back({.table = "people", .type = "person", .id_column = "id", .name_column = "name"});
  mapping.entities.push_back({.table = "teams", .type = "team", .id_column = "code", .name_column = "name"});
  mapping.relationships.push_back({.type = "IN",
                                   .from_table = "people",
                                   .from_column = "id",
                                   .to_table = "teams",
                                   .to_column = "code",
                                   .through_table = "members",
                                   .through_from_column = "person",
                                   .through_to_column = "team"});
  return mapping;
}

// DAT-17
TEST_P(SourcesTest, NamesMayBeAnythingTheDatabaseAllows) {
  database->execute(R"(CREATE TABLE """; drop table x; --" ("i""d" integer PRIMARY KEY, "na me" text, "from" integer);)"
                    R"(INSERT INTO """; drop table x; --" VALUES (1, 'One', NULL), (2, 'Two', 1))");
  Mapping mapping{.name = "odd", .dsn_env = "X"};
  const std::string table = "\"; drop table x; --";
  mapping.entities.push_back({.table = table, .type = "thing", .id_column = "i\"d", .name_column = "na me"});
  mapping.relationships.push_back(
      {.type = "FROM", .from_table = table, .from_column = "from", .to_table = table, .to_column = "i\"d"});
  const auto parsed = parse_mapping(write_mapping(mapping));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->mapping, mapping);
  EXPECT_THAT(validate(*parsed, introspect(), nullptr), IsEmpty());
  EXPECT_EQ(refs(ask(keep(mapping), {.entity = "One"}).value()), fmt::format("< FROM {}/2\n", table));
}

// DAT-15
TEST_P(SourcesTest, RowsWhoseReferencesReadTheSameAreToldApart) {
  database->execute(
      "CREATE TABLE \"a\" (id text PRIMARY KEY, name text, hub text);"
      "CREATE TABLE \"a/b\" (id text PRIMARY KEY, name text, hub text);"
      "CREATE TABLE hubs (id text PRIMARY KEY, name text);"
      "INSERT INTO hubs VALUES ('h', 'Hub');"
      "INSERT INTO \"a\" VALUES ('b/c', 'First', 'h');"
      "INSERT INTO \"a/b\" VALUES ('c', 'Second', 'h');");
  Mapping mapping{.name = "slashes", .dsn_env = "X"};
  for (const char* table : {"a", "a/b", "hubs"})
    mapping.entities.push_back({.table = table, .type = "t", .id_column = "id", .name_column = "name"});
  for (const char* table : {"a", "a/b"})
    mapping.relationships.push_back(
        {.type = "AT", .from_table = table, .from_column = "hub", .to_table = "hubs", .to_column = "id"});
  const Workup workup = ask(keep(mapping), {.entity = "Hub"}).value();
  ASSERT_EQ(workup.relationships.size(), 2U);
  const Reference& first = *workup.relationships[0].peer;
  const Reference& second = *workup.relationships[1].peer;
  EXPECT_EQ(first.ref, second.ref);
  EXPECT_EQ(first.name, "First");
  EXPECT_EQ(second.name, "Second");
  EXPECT_EQ(workup.provenance.at(first.cite - 1).table, "a");
  EXPECT_EQ(workup.provenance.at(second.cite - 1).table, "a/b");
}

TEST_P(SourcesTest, RowsThatCannotBeShownWholeSaySo) {
  const auto dialect = database->dialect();
  database->execute(
      fmt::format("CREATE TABLE things (id integer UNIQUE, name text, body text, raw {}, owner integer);"
                  "INSERT INTO things VALUES (1, 'Big', 'b', {}, NULL), (NULL, 'Ghost', NULL, NULL, 1), "
                  "(2, 'Kid', NULL, NULL, 1)",
                  dialect.bytes, dialect.blob));
  database->execute(
      fmt::format("UPDATE things SET body = '{}' WHERE id = 1", std::string(std::size_t{10} << 20U, 'x')));
  Mapping mapping{.name = "odd", .dsn_env = "X"};
  mapping.entities.push_back({.table = "things",
                              .type = "thing",
                              .id_column = "id",
                              .name_column = "name",
                              .attribute_columns = {"body", "raw"}});
  mapping.relationships.push_back(
      {.type = "OWNED_BY", .from_table = "things", .from_column = "owner", .to_table = "things", .to_column = "id"});
  const Workup workup = ask(keep(mapping), {.entity = "Big"}).value();
  EXPECT_EQ(refs(workup), "< OWNED_BY things/2\n");
  EXPECT_THAT(gaps(workup), UnorderedElementsAre("cut", "not_text", "no_id"));
  EXPECT_EQ(to_text(workup.attributes[0].second).size(), limits::kCellBytes);
  EXPECT_EQ(to_text(workup.attributes[1].second), "8 bytes");
}

// DAT-18: a limit keeps the same rows in every source.
TEST_P(SourcesTest, RowsComeInTheSameOrder) {
  const bool sqlite = GetParam().name == "SQLite";
  struct Column {
    std::string type;
    std::vector<std::string> values;
    std::string in_order;
  };
  const std::vector<Column> columns = {
      {"integer", {"100", "9", "20", "10"}, "9 10 20 100"},
      {"numeric(8, 2)", {"100.25", "9.75", "20.75", "10.25"}, "9.75 10.25 20.75 100.25"},
      {"double precision", {"100.25", "9.5", "20.75", "-3.5"}, "-3.5 9.5 20.75 100.25"},
      {sqlite ? "text COLLATE NOCASE" : "text COLLATE \"und-x-icu\"",
       {"'b'", "'B'", "'a'", "'Ä'", "'10'", "'9'"},
       "10 9 B a b Ä"},
      {"date", {"'2001-02-03'", "'0999-12-31'", "'2000-12-31'"}, "0999-12-31 2000-12-31 2001-02-03"}};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string table = fmt::format("things{}", i);
    std::string rows = "(NULL, 'x')";
    for (const auto& value : columns[i].values)
      rows += fmt::format(", ({}, 'x')", value);
    database->execute(
        fmt::format("CREATE TABLE {0} (id {1}, name text); INSERT INTO {0} VALUES {2}", table, columns[i].type, rows));
    const std::vector<std::string> wanted = {"id"};
    const auto source = open();
    const Patience patience;
    ASSERT_TRUE(source->begin(patience));
    auto read = source->read({.table = table,
                              .columns = wanted,
                              .any_of = {{.column = "name", .value = text_value("x")}},
                              .order_by = "id",
                              .limit = 10});
    ASSERT_TRUE(read) << read.error().message();
    std::string seen;
    for (std::size_t row = 0; row < read->size(); ++row)
      seen += fmt::format("{}{}", row == 0 ? "" : " ", is_null((*read)[row][0]) ? "null" : to_text((*read)[row][0]));
    EXPECT_EQ(seen, columns[i].in_order + " null") << columns[i].type;
    source->end();
  }
}

// DAT-13: an exact name or alias wins over one that differs in case, even if the column itself ignores case.
TEST_P(SourcesTest, AnExactNameOrAliasIsFoundInColumnsThatIgnoreCase) {
  std::string type = "text COLLATE NOCASE";
  if (GetParam().name != "SQLite") {
    database->execute("CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
    type = "text COLLATE caseless";
  }
  database->execute(fmt::format(
      "CREATE TABLE things (id integer PRIMARY KEY, name {0}, alias {0}, number integer, height double precision);"
      "INSERT INTO things VALUES (1, 'ONE', 'FIRST', 17, 1.5), (2, 'one', 'first', 18, 25)",
      type));
  Mapping mapping{.name = "cases", .dsn_env = "X"};
  mapping.entities.push_back({.table = "things",
                              .type = "thing",
                              .id_column = "id",
                              .name_column = "name",
                              .alias_columns = {"alias", "number", "height"}});
  const Plan& plan = keep(mapping);
  const auto found = [&](const char* asked) {
    const Workup workup = ask(plan, {.entity = asked}).value();
    std::string out(workup.resolution ? to_string(*workup.resolution) : "none");
    for (const auto* candidate : workup.candidates)
      out += " " + candidate->ref;
    return workup.entity != nullptr ? out + " " + workup.entity->ref : out;
  };
  EXPECT_EQ(found("one"), "name things/2");
  EXPECT_EQ(found("One"), "case_insensitive things/1 things/2");
  EXPECT_EQ(found("first"), "alias things/2");
  EXPECT_EQ(found("First"), "case_insensitive things/1 things/2");
  EXPECT_EQ(found("18"), "alias things/2");
  EXPECT_EQ(found("018"), "none");
  EXPECT_EQ(found("25"), "alias things/2");
  EXPECT_EQ(found("1.5"), "alias things/1");
  EXPECT_EQ(found("on"), "prefix things/1 things/2");
}

// DAT-14
TEST_P(SourcesTest, APeerIsMetThroughARowBetweenThatDiffersInCase) {
  std::string type = "text COLLATE NOCASE";
  if (GetParam().name != "SQLite") {
    database->execute("CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
    type = "text COLLATE caseless";
  }
  database->execute(
      fmt::format("CREATE TABLE people (id integer PRIMARY KEY, name text);"
                  "CREATE TABLE teams (code {0} PRIMARY KEY, name text);"
                  "CREATE TABLE members (person integer, team {0});"
                  "INSERT INTO people VALUES (1, 'Ada');"
                  "INSERT INTO teams VALUES ('ABC', 'First'), ('def', 'Second');"
                  "INSERT INTO members VALUES (1, 'abc'), (1, 'def'), (1, 'none');",
                  type));
  const Workup workup = ask(keep(members_of_teams()), {.entity = "Ada"}).value();
  EXPECT_EQ(refs(workup), "> IN teams/ABC\n> IN teams/def\n");
  EXPECT_THAT(gaps(workup), ElementsAre("dangling"));
  // Two values that differ in case lead to the same peer, however many are between them.
  database->execute(
      "INSERT INTO people VALUES (2, 'Bo');"
      "INSERT INTO members VALUES (2, 'ABC'), (2, 'abc');"
      "INSERT INTO members WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) "
      "SELECT 2, 'B' || i FROM n");
  EXPECT_EQ(refs(ask(keep(members_of_teams()), {.entity = "Bo", .limit = 100}).value()), "> IN teams/ABC\n");
}

// DAT-16
TEST_P(SourcesTest, ManyRowsBetweenThatLeadToOnePeerHideNoOther) {
  database->execute(
      "CREATE TABLE people (id integer PRIMARY KEY, name text);"
      "CREATE TABLE teams (code text PRIMARY KEY, name text);"
      "CREATE TABLE members (person integer, team text, year integer);"
      "INSERT INTO people VALUES (1, 'Ada');"
      "INSERT INTO teams VALUES ('A', 'First'), ('B', 'Second');"
      "INSERT INTO members WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) "
      "SELECT 1, 'A', 1900 + i FROM n;"
      "INSERT INTO members VALUES (1, 'B', 2020), (1, NULL, 2021)");
  const Plan& plan = keep(members_of_teams());
  for (const std::int64_t limit : {50, 2}) {
    const Workup whole = ask(plan, {.entity = "Ada", .limit = limit}).value();
    EXPECT_EQ(refs(whole), "> IN teams/A\n> IN teams/B\n") << limit;
    EXPECT_FALSE(whole.neighbourhood.truncated) << limit;
    EXPECT_THAT(gaps(whole), IsEmpty()) << limit;
  }
  const Workup cut = ask(plan, {.entity = "Ada", .limit = 1}).value();
  EXPECT_EQ(refs(cut), "> IN teams/A\n");
  EXPECT_TRUE(cut.neighbourhood.truncated);
  EXPECT_THAT(gaps(cut), ElementsAre("truncated"));
}

// DAT-16
TEST_P(SourcesTest, RowsBetweenThatLeadNowhereDoNotHideThatThereIsMore) {
  database->execute(
      "CREATE TABLE people (id integer PRIMARY KEY, name text, boss integer);"
      "CREATE TABLE teams (code text PRIMARY KEY, name text);"
      "CREATE TABLE members (person integer, team text);"
      "INSERT INTO people VALUES (1, 'Ada', NULL), (2, 'Bo', 1);"
      "INSERT INTO teams VALUES ('B', 'Second');"
      "INSERT INTO members WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) "
      "SELECT 1, 'A' || i FROM n;"
      "INSERT INTO members VALUES (1, 'B')");
  Mapping mapping = members_of_teams();
  mapping.relationships.push_back(
      {.type = "UNDER", .from_table = "people", .from_column = "boss", .to_table = "people", .to_column = "id"});
  const Plan& plan = keep(mapping);
  const Workup cut = ask(plan, {.entity = "Ada"}).value();
  EXPECT_EQ(refs(cut), "< UNDER people/2\n");
  EXPECT_TRUE(cut.neighbourhood.truncated);
  EXPECT_THAT(gaps(cut), Contains("truncated"));
  const Workup further = ask(plan, {.entity = "Bo", .hops = 2}).value();
  EXPECT_TRUE(further.neighbourhood.truncated);
  EXPECT_THAT(gaps(further), Contains("truncated"));
  const Workup whole = ask(plan, {.entity = "Ada", .limit = 100}).value();
  EXPECT_EQ(refs(whole), "> IN teams/B\n< UNDER people/2\n");
  EXPECT_FALSE(whole.neighbourhood.truncated);
  EXPECT_THAT(gaps(whole), testing::AllOf(testing::SizeIs(60), testing::Each("dangling")));
}

// DAT-14
TEST_P(SourcesTest, ALimitMakesNoKeyDangle) {
  database->execute(
      "CREATE TABLE people (id integer PRIMARY KEY, name text);"
      "CREATE TABLE teams (code integer PRIMARY KEY, name text);"
      "CREATE TABLE members (person integer, team text);"
      "INSERT INTO people VALUES (1, 'Ada');"
      "INSERT INTO teams VALUES (1, 'Red'), (2, 'Red'), (3, 'Blue');"
      "INSERT INTO members VALUES (1, 'Blue'), (1, 'Red')");
  Mapping mapping = members_of_teams();
  mapping.relationships.front().to_column = "name";
  const Workup workup = ask(keep(mapping), {.entity = "Ada", .limit = 1}).value();
  EXPECT_EQ(refs(workup), "> IN teams/1\n");
  EXPECT_TRUE(workup.neighbourhood.truncated);
  EXPECT_THAT(gaps(workup), ElementsAre("truncated"));
}

TEST_P(SourcesTest, ProposalsLeaveOutWhatCannotBeAnEntity) {
  database->execute(
      "CREATE TABLE good (id integer PRIMARY KEY, name text);"
      "CREATE TABLE keyless (a integer, b text);"
      "CREATE TABLE composite (a integer, b integer, c text, PRIMARY KEY (a, b));"
      "CREATE VIEW seen AS SELECT id, name FROM good;"
      "CREATE TABLE ring_a (id integer PRIMARY KEY, b_id integer);"
      "CREATE TABLE ring_b (id integer PRIMARY KEY, a_id integer REFERENCES ring_a (id));");
  const Proposal proposal = propose({.name = "x", .dsn_env = "X"}, introspect(), nullptr);
  std::vector<std::string> tables;
  for (const auto& entity : proposal.mapping.entities)
    tables.push_back(entity.table);
  EXPECT_THAT(tables, ElementsAre("good", "ring_a", "ring_b"));
  std::vector<std::string> problems;
  for (const auto& problem : proposal.problems)
    problems.emplace_back(to_string(problem.kind));
  EXPECT_THAT(problems, UnorderedElementsAre("no_key", "no_key", "unusable"));
  EXPECT_TRUE(parse_mapping(proposal.draft()));
}

TEST_P(SourcesTest, FiveHundredTablesAreProposed) {
  std::string sql;
  for (int i = 0; i < 500; ++i)
    sql += fmt::format("CREATE TABLE t{:03} (id integer PRIMARY KEY, name text, next_id integer);", i);
  database->execute(sql);
  const Introspection source = introspect();
  const Proposal proposal = propose({.name = "x", .dsn_env = "X"}, source, nullptr);
  EXPECT_EQ(proposal.mapping.entities.size(), 500U);
  const auto parsed = parse_mapping(proposal.draft());
  ASSERT_TRUE(parsed);
  EXPECT_THAT(validate(*parsed, source, nullptr), IsEmpty());
  EXPECT_EQ(ask(keep(parsed->mapping), {.entity = "nobody"}).value().status, WorkupStatus::not_found);
}

TEST_P(SourcesTest, AColumnThatIsWidenedMeanwhileIsReadInFull) {
  if (GetParam().name == "SQLite") GTEST_SKIP() << "its integers are as wide as can be";
  database->execute("CREATE TABLE thing (id integer PRIMARY KEY, name text); INSERT INTO thing VALUES (1, 'one')");
  Mapping mapping{.name = "things", .dsn_env = "X"};
  mapping.entities.push_back({.table = "thing", .type = "thing", .id_column = "id", .name_column = "name"});
  const Plan& kept = keep(mapping);
  const auto source = open();
  EXPECT_EQ(work_up(kept, *source, {.entity = "1"}, Patience{}).value().status, WorkupStatus::found);
  database->execute("ALTER TABLE thing ALTER COLUMN id TYPE bigint; INSERT INTO thing VALUES (5000000000, 'five')");
  EXPECT_EQ(work_up(kept, *source, {.entity = "5000000000"}, Patience{}).value().status, WorkupStatus::found);
}

// DAT-17
TEST_P(SourcesTest, AStatementThatTakesTooLongIsEnded) {
  if (GetParam().name == "SQLite") {
    database->execute(
        "CREATE VIEW slow AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
        "100000000000) SELECT max(i) AS id, 'x' AS name FROM n");
  } else {
    database->execute("CREATE VIEW slow AS SELECT 1 AS id, pg_sleep(100)::text AS name");
  }
  Mapping mapping{.name = "slow", .dsn_env = "X"};
  mapping.entities.push_back({.table = "slow", .type = "t", .id_column = "id", .name_column = "name"});
  const auto began = std::chrono::steady_clock::now();
  const auto workup = ask(keep(mapping), {.entity = "1"}, 200ms);
  ASSERT_FALSE(workup);
  EXPECT_EQ(workup.error().kind(), ErrorKind::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 20s);
}

INSTANTIATE_TEST_SUITE_P(On, SourcesTest, testing::ValuesIn(test::source_kinds()), test::name_of);

}  // namespace
}  // namespace proteus::datasets
