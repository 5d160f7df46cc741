// What is particular to SQLite as a source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/propose/propose.hpp"
#include "datasets/sources/workup.hpp"
#include "datasets/testing/test_database.hpp"

namespace proteus::datasets {
namespace {

class SqliteSourceTest : public testing::Test {
 protected:
  std::unique_ptr<Source> open() const {
    return std::move(open_source(Secret(database.dsn()), "public", Patience{}).value());
  }

  static Plan plan_of(const std::string& table, std::vector<std::string> aliases = {}) {
    Mapping mapping{.name = "things", .dsn_env = "X"};
    mapping.entities.push_back({.table = table,
                                .type = "thing",
                                .id_column = "id",
                                .name_column = "name",
                                .alias_columns = std::move(aliases)});
    return {std::move(mapping), ""};
  }

  test::SqliteDatabase database;
};

// DAT-13: the text 7 is not the number 7 to a column without an affinity.
TEST_F(SqliteSourceTest, EveryCandidateIsFoundByItsReference) {
  database.execute(
      "CREATE TABLE things (id PRIMARY KEY, name);"
      "INSERT INTO things VALUES (0, 'Twin'), (-7, 'Twin'), (9223372036854775807, 'Twin'), (7.5, 'Twin'),"
      " (10.0, 'Twin'), ('12', 'Twin'), ('x', 'Twin');"
      "CREATE TABLE blobs (id blob PRIMARY KEY, name text);"
      "INSERT INTO blobs VALUES (1, 'Twin'), (2, 'Twin');"
      "CREATE VIEW latest AS SELECT max(id) AS id, name FROM things WHERE typeof(id) = 'integer' GROUP BY id");
  const auto source = open();
  for (const auto& [table, count] : {std::pair("things", 7), std::pair("blobs", 2), std::pair("latest", 3)}) {
    const Plan plan = plan_of(table);
    const Workup twins = work_up(plan, *source, {.entity = "Twin"}, {}).value();
    EXPECT_EQ(std::ssize(twins.candidates), count) << table;
    for (const Reference* const one : twins.candidates) {
      for (const std::string& asked : {one->ref, std::string(one->id())}) {
        const Workup found = work_up(plan, *source, {.entity = asked}, {}).value();
        ASSERT_EQ(found.status, WorkupStatus::found) << asked;
        EXPECT_EQ(found.entity->ref, one->ref);
      }
    }
    for (const char* const asked : {"007", "7", "1.0", "12abc", "abc", "inf"})
      EXPECT_EQ(work_up(plan, *source, {.entity = asked}, {}).value().status, WorkupStatus::not_found) << asked;
  }
}

// DAT-13
TEST_F(SqliteSourceTest, AnAliasIsFoundAsTextAndAsNumber) {
  database.execute(
      "CREATE TABLE things (id integer PRIMARY KEY, name text, code text, number);"
      "INSERT INTO things VALUES (1, 'One', '17', NULL), (2, 'Two', 'b', 17), (3, 'Three', 'c', 0.0)");
  const Plan plan = plan_of("things", {"code", "number"});
  const auto source = open();
  const Workup both = work_up(plan, *source, {.entity = "17"}, {}).value();
  EXPECT_EQ(both.resolution, Resolution::alias);
  EXPECT_EQ(both.candidates.size(), 2U);
  EXPECT_EQ(work_up(plan, *source, {.entity = "abc"}, {}).value().status, WorkupStatus::not_found);
}

TEST_F(SqliteSourceTest, ADatabaseInUtf16IsReadLikeAnyOther) {
  std::filesystem::remove(database.file());  // the first table decides the encoding
  database.execute(
      "PRAGMA encoding = 'UTF-16le';"
      "CREATE TABLE companies (id integer PRIMARY KEY, name text, town text);"
      "INSERT INTO companies VALUES (1, 'Acme', 'Åbo')");
  const auto source = open();
  const Introspection facts = source->introspect(Patience{}).value();
  ASSERT_THAT(facts.tables, testing::ElementsAre(testing::Field(&TableFacts::name, "companies")));
  Proposal proposal = propose({.name = "things", .dsn_env = "X"}, facts, nullptr);
  EXPECT_THAT(proposal.problems, testing::IsEmpty());
  const Plan plan(std::move(proposal.mapping), "");
  const Workup workup = work_up(plan, *source, {.entity = "Acme"}, {}).value();
  ASSERT_EQ(workup.status, WorkupStatus::found);
  EXPECT_EQ(workup.entity->ref, "companies/1");
  ASSERT_EQ(workup.attributes.size(), 1U);
  EXPECT_EQ(to_text(workup.attributes.front().second), "Åbo");
}

}  // namespace
}  // namespace proteus::datasets
