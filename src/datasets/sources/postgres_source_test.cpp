// What is particular to PostgreSQL as a source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/propose/propose.hpp"
#include "datasets/sources/workup.hpp"
#include "datasets/testing/source_fixture.hpp"

namespace proteus::datasets {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class PostgresSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
    database = std::make_unique<test::PostgresDatabase>();
  }

  std::unique_ptr<Source> open(Patience given = {}) const {
    return std::move(open_source(Secret(database->dsn()), "public", given).value());
  }

  // Makes a table with two rows whose ids are of this type, and another with a row that refers to the first of them.
  void make_things(const std::string& type, const std::string& first, const std::string& second) const {
    database->execute("DROP TABLE IF EXISTS parts, things");
    database->execute(
        fmt::format("CREATE TABLE things (id {0} PRIMARY KEY, name text);"
                    "CREATE TABLE parts (id integer PRIMARY KEY, thing {0});"
                    "INSERT INTO things VALUES ('{1}', 'First'), ('{2}', 'Second');"
                    "INSERT INTO parts VALUES (1, '{1}')",
                    type, first, second));
  }
  static Plan plan_of_things() {
    Mapping mapping{.name = "things", .dsn_env = "X"};
    mapping.entities.push_back({.table = "things", .type = "thing", .id_column = "id", .name_column = "name"});
    mapping.entities.push_back({.table = "parts", .type = "part", .id_column = "id"});
    mapping.relationships.push_back(
        {.type = "OF", .from_table = "parts", .from_column = "thing", .to_table = "things", .to_column = "id"});
    return {std::move(mapping), ""};
  }

  // Makes foreign keys from columns of one type to a key of another, and expects that each leads from either end to the
  // other, directly and through a table between.
  void expect_links(const std::string& key_type, const std::string& type, const std::string& key,
                    const std::string& other, const std::string& reference) const {
    SCOPED_TRACE(fmt::format("{} to {}", type, key_type));
    database->execute("DROP TABLE IF EXISTS wishes, orders, people, items");
    database->execute(
        fmt::format("CREATE TABLE items (code {0} PRIMARY KEY, name text);"
                    "CREATE TABLE orders (id integer PRIMARY KEY, code {1} REFERENCES items (code));"
                    "CREATE TABLE people (id integer PRIMARY KEY);"
                    "CREATE TABLE wishes (person integer REFERENCES people (id), code {1} REFERENCES items (code));"
                    "INSERT INTO items VALUES ('{2}', 'First'), ('{3}', 'Second');"
                    "INSERT INTO orders VALUES (1, '{4}'); INSERT INTO people VALUES (1);"
                    "INSERT INTO wishes VALUES (1, '{4}')",
                    key_type, type, key, other, reference));
    Mapping mapping{.name = "items", .dsn_env = "X"};
    mapping.entities.push_back({.table = "items", .type = "item", .id_column = "code", .name_column = "name"});
    mapping.entities.push_back({.table = "orders", .type = "order", .id_column = "id"});
    mapping.entities.push_back({.table = "people", .type = "person", .id_column = "id"});
    mapping.relationships.push_back(
        {.type = "FOR", .from_table = "orders", .from_column = "code", .to_table = "items", .to_column = "code"});
    mapping.relationships.push_back({.type = "WANTS",
                                     .from_table = "people",
                                     .from_column = "id",
                                     .to_table = "items",
                                     .to_column = "code",
                                     .through_table = "wishes",
                                     .through_from_column = "person",
                                     .through_to_column = "code"});
    const Plan plan(std::move(mapping), "");
    const auto source = open();
    const auto expect = [&](const std::string& entity, const std::string& wanted) {
      const auto workup = work_up(plan, *source, {.entity = entity}, {});
      ASSERT_TRUE(workup) << entity << ": " << workup.error().message();
      EXPECT_EQ(test::refs(*workup), wanted) << entity;
      EXPECT_THAT(test::gaps(*workup), IsEmpty()) << entity;
    };
    const std::string item = "items/" + database->query("SELECT code::text FROM items WHERE name = 'First'").front();
    expect("orders/1", fmt::format("> FOR {}\n", item));
    expect("people/1", fmt::format("> WANTS {}\n", item));
    expect(item, "< FOR orders/1\n< WANTS people/1\n");
  }

  std::unique_ptr<test::PostgresDatabase> database;
};

// DAT-14
TEST_F(PostgresSourceTest, ALinkComparesAsItsForeignKeyDoes) {
  expect_links("numeric(10, 2)", "numeric", "7", "8", "7");
  expect_links("numeric(10, 2)", "integer", "7", "8", "7");
  expect_links("numeric", "numeric(10, 2)", "-0.5", "8", "-0.50");
  expect_links("double precision", "numeric", "0.5", "8", "0.50");
  expect_links("char(5)", "char(3)", "abc", "abd", "abc");
}

// DAT-14
TEST_F(PostgresSourceTest, ALinkOfTextsWithoutCaseComparesAsItsForeignKeyDoes) {
  if (database->query("SELECT name FROM pg_available_extensions WHERE name = 'citext'").empty())
    GTEST_SKIP() << "the extension citext is not installed";
  database->execute("CREATE EXTENSION citext");
  expect_links("citext", "citext", "ABC", "def", "abc");
}

TEST_F(PostgresSourceTest, IdsOfEveryTypeAreFoundAsTheyAreWritten) {
  struct Ids {
    const char* type;
    const char* first;
    const char* second;
  };
  const Plan plan = plan_of_things();
  for (const auto& [type, first, second] :
       {Ids{"uuid", "0b8cdab4-6d2c-4cbb-a3a7-5cf8a1c0f0a1", "0b8cdab4-6d2c-4cbb-a3a7-5cf8a1c0f0a2"},
        Ids{"numeric", "12.50", "NaN"}, Ids{"numeric(40,0)", "1234567890123456789012345678901234567890", "-1"},
        Ids{"date", "2024-02-29", "infinity"}, Ids{"timestamptz", "2024-02-29 12:00:00+00", "-infinity"},
        Ids{"float8", "0.1", "-7.25"}, Ids{"float4", "0.1", "1e+30"}, Ids{"char(3)", "abc", "abd"}}) {
    make_things(type, first, second);
    const auto source = open();
    for (const char* id : {first, second}) {
      const auto workup = work_up(plan, *source, {.entity = id, .type = "thing"}, {});
      ASSERT_TRUE(workup) << type << ": " << workup.error().message();
      ASSERT_EQ(workup->status, WorkupStatus::found) << type << " " << id;
      EXPECT_EQ(workup->entity->id(), id);
      EXPECT_EQ(workup->relationships.size(), id == first ? 1U : 0U) << type;
    }
  }
}

TEST_F(PostgresSourceTest, ATextThatNoIdOfTheTypeCanBeIsNotFound) {
  const Plan plan = plan_of_things();
  for (const auto& [type, id] :
       {std::pair("uuid", "0b8cdab4-6d2c-4cbb-a3a7-5cf8a1c0f0a1"), std::pair("numeric", "12.5"),
        std::pair("date", "2024-02-29"), std::pair("float8", "0.1"), std::pair("float4", "0.1")}) {
    make_things(type, id,
                std::string(type) == "uuid"   ? "0b8cdab4-6d2c-4cbb-a3a7-5cf8a1c0f0a2"
                : std::string(type) == "date" ? "2024-03-01"
                                              : "7");
    const auto source = open();
    for (const std::string& text :
         {std::string("Ada Stone"), std::string("12.50"), std::string("1e999"), std::string("1e300"),
          std::string("nan(x)"), std::string("0x10"), std::string("-"), std::string("."), std::string("2024-02-30"),
          std::string("0000-01-01"), std::string("2024-13-01"), std::string("{0b8cdab4-6d2c-4cbb-a3a7-5cf8a1c0f0a1}"),
          std::string("0B8CDAB4-6D2C-4CBB-A3A7-5CF8A1C0F0A1"), std::string("g0b8cdab-6d2c-4cbb-a3a7-5cf8a1c0f0a1"),
          std::string(490, '9'), std::string("ä")}) {
      const auto workup = work_up(plan, *source, {.entity = text, .type = "thing"}, {});
      ASSERT_TRUE(workup) << type << " " << text << ": " << workup.error().message();
      EXPECT_EQ(workup->status, WorkupStatus::not_found) << type << " " << text;
    }
  }
}

// A table of many rows would otherwise be read whole for each lookup.
TEST_F(PostgresSourceTest, AnIndexServesALookupById) {
  for (const auto& [type, id] : {std::pair("uuid", "md5(n::text)::uuid"), std::pair("numeric", "n::numeric / 4"),
                                 std::pair("float8", "n::float8 / 4"), std::pair("date", "date '2000-01-01' + n")}) {
    database->execute("DROP TABLE IF EXISTS things");
    database->execute(
        fmt::format("CREATE TABLE things (id {} PRIMARY KEY, name text);"
                    "INSERT INTO things SELECT {}, 'x' || n FROM generate_series(1, 20000) AS n;"
                    "ANALYZE things",
                    type, id));
    const std::string wanted = database->query("SELECT id::text FROM things WHERE name = 'x77'").front();
    Mapping mapping{.name = "things", .dsn_env = "X"};
    mapping.entities.push_back({.table = "things", .type = "thing", .id_column = "id"});
    const Plan plan(mapping, "");
    {
      const auto source = open();
      EXPECT_EQ(work_up(plan, *source, {.entity = wanted}, {}).value().status, WorkupStatus::found) << type;
    }
    // A session reports what it did when it ends.
    const auto uses_of_the_index = [&] {
      return database->query("SELECT coalesce(idx_scan, 0) FROM pg_stat_user_tables WHERE relname = 'things'").front();
    };
    const auto end = std::chrono::steady_clock::now() + proteus::test::kPatience;
    while (uses_of_the_index() == "0" && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    EXPECT_NE(uses_of_the_index(), "0") << type;
  }
}

TEST_F(PostgresSourceTest, EachPieceOfWorkHasItsOwnTimeLimits) {
  database->execute(
      "CREATE VIEW settings AS SELECT 1 AS id, "
      "current_setting('lock_timeout') = current_setting('statement_timeout') AS name");
  Mapping mapping{.name = "settings", .dsn_env = "X"};
  mapping.entities.push_back({.table = "settings", .type = "t", .id_column = "id", .name_column = "name"});
  const Plan plan(mapping, "");
  const auto now = std::chrono::steady_clock::now();
  const auto source = open({.until = now + 20s});
  EXPECT_EQ(work_up(plan, *source, {.entity = "1"}, {.until = now + 1000s}).value().entity->name, "true");
}

TEST_F(PostgresSourceTest, PartitionsAreNoTablesOfTheirOwn) {
  database->execute(
      "CREATE TABLE events (id integer PRIMARY KEY, name text) PARTITION BY RANGE (id);"
      "CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (0) TO (10);"
      "CREATE TABLE zebras (id integer PRIMARY KEY, event integer REFERENCES events (id))");
  const Introspection found = open()->introspect({}).value();
  std::vector<std::string> tables;
  for (const TableFacts& table : found.tables)
    tables.push_back(fmt::format("{} {} {}", table.name, table.columns.size(), table.primary_key.front()));
  EXPECT_THAT(tables, ElementsAre("events 2 id", "zebras 2 id"));
  EXPECT_EQ(found.foreign_keys.size(), 1U);
}

}  // namespace
}  // namespace proteus::datasets
