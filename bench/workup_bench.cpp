// Compares a workup of one entity with 50 relationships on SQLite with a bare loop that runs the same statements
// through SQLite's C interface and reads each value. `workup` includes the JSON and the text for the client, `reading`
// does not. `statements` prepares its statements each time, `prepared` only once.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <sqlite3.h>
#include <stdlib.h>

#include "bench.hpp"
#include "datasets/sources/workup.hpp"

namespace proteus {
namespace {

using namespace datasets;

constexpr std::string_view kMapping = R"([dataset]
name = "bench"
dsn_env = "X"
[[entities]]
table = "teams"
type = "team"
id_column = "id"
name_column = "name"
attribute_columns = ["field", "town"]
[[entities]]
table = "people"
type = "person"
id_column = "id"
name_column = "name"
attribute_columns = ["title"]
[[relationships]]
type = "MEMBER_OF"
from_table = "people"
from_column = "team_id"
to_table = "teams"
to_column = "id"
)";

// The statements of a workup of `teams/1`.
constexpr const char* kFind =
    R"(SELECT "id","name","field","town" FROM main."teams" WHERE "id" = ? ORDER BY "id" COLLATE BINARY NULLS LAST LIMIT ?)";
constexpr const char* kFollow =
    R"(SELECT "id","name","team_id" FROM main."people" WHERE "team_id" = ? ORDER BY "id" COLLATE BINARY NULLS LAST LIMIT ?)";

class Database {
 public:
  Database() {
    std::string pattern = std::filesystem::temp_directory_path() / "proteus-bench-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    sqlite3* made = nullptr;
    sqlite3_open(file().c_str(), &made);
    sqlite3_exec(made,
                 "PRAGMA synchronous = OFF; BEGIN;"
                 "CREATE TABLE teams (id integer PRIMARY KEY, name text, field text, town text);"
                 "CREATE TABLE people (id integer PRIMARY KEY, name text, title text, team_id integer);"
                 "CREATE INDEX people_by_team ON people (team_id);"
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) "
                 "INSERT INTO teams SELECT i, 'Team ' || i, 'Research', 'Harbour' FROM n;"
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
                 "INSERT INTO people SELECT i, 'Person number ' || i, 'Engineer', i % 100 + 1 FROM n; COMMIT",
                 nullptr, nullptr, nullptr);
    sqlite3_close(made);
  }
  ~Database() { std::filesystem::remove_all(folder_); }
  std::string file() const { return (folder_ / "bench.db").string(); }

 private:
  std::filesystem::path folder_;
};

const Database& database() {
  static const Database made;
  return made;
}

void whole_workup(benchmark::State& state) {
  const Plan plan(parse_mapping(kMapping).value().mapping, "0123456789abcdef");
  const auto source = std::move(open_source(Secret("sqlite://" + database().file()), "public", {}).value());
  for (auto _ : state) {
    const auto workup = work_up(plan, *source, {.entity = "teams/1"}, {}).value();
    if (workup.relationships.size() != 50) state.SkipWithError("not 50 relationships");
    benchmark::DoNotOptimize(write_workup(workup));
    benchmark::DoNotOptimize(describe_workup(workup));
  }
}

void reading(benchmark::State& state) {
  const Plan plan(parse_mapping(kMapping).value().mapping, "0123456789abcdef");
  const auto source = std::move(open_source(Secret("sqlite://" + database().file()), "public", {}).value());
  for (auto _ : state)
    benchmark::DoNotOptimize(work_up(plan, *source, {.entity = "teams/1"}, {}));
}

class Bare {
 public:
  Bare() { sqlite3_open_v2(database().file().c_str(), &opened_, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr); }
  ~Bare() { sqlite3_close(opened_); }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;

  void execute(const char* sql) { sqlite3_exec(opened_, sql, nullptr, nullptr, nullptr); }

  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(opened_, sql, -1, &statement, nullptr);
    return statement;
  }

  // Reads each value, and returns the number of rows.
  int run(sqlite3_stmt* statement, int limit) {
    sqlite3_bind_int64(statement, 1, 1);
    sqlite3_bind_int64(statement, 2, limit);
    int rows = 0;
    for (; sqlite3_step(statement) == SQLITE_ROW; ++rows) {
      for (int column = 0; column < sqlite3_column_count(statement); ++column) {
        benchmark::DoNotOptimize(sqlite3_column_text(statement, column));
        benchmark::DoNotOptimize(sqlite3_column_bytes(statement, column));
      }
    }
    sqlite3_reset(statement);
    return rows;
  }

 private:
  sqlite3* opened_ = nullptr;
};

// Prepares the statements each time, like a program that runs once.
void bare_statements(benchmark::State& state) {
  Bare bare;
  for (auto _ : state) {
    bare.execute("BEGIN");
    sqlite3_stmt* const find = bare.prepare(kFind);
    sqlite3_stmt* const follow = bare.prepare(kFollow);
    if (bare.run(find, 21) + bare.run(follow, 51) != 51) state.SkipWithError("not 51 rows");
    sqlite3_finalize(find);
    sqlite3_finalize(follow);
    bare.execute("ROLLBACK");
  }
}

void prepared_statements(benchmark::State& state) {
  Bare bare;
  sqlite3_stmt* const find = bare.prepare(kFind);
  sqlite3_stmt* const follow = bare.prepare(kFollow);
  for (auto _ : state) {
    bare.execute("BEGIN");
    if (bare.run(find, 21) + bare.run(follow, 51) != 51) state.SkipWithError("not 51 rows");
    bare.execute("ROLLBACK");
  }
  sqlite3_finalize(find);
  sqlite3_finalize(follow);
}

}  // namespace
}  // namespace proteus

int main(int argc, char** argv) {
  proteus::bench::add("workup/50 relationships", proteus::whole_workup);
  proteus::bench::add("reading/50 relationships", proteus::reading);
  proteus::bench::add("statements/50 relationships", proteus::bare_statements);
  proteus::bench::add("prepared/50 relationships", proteus::prepared_statements);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
