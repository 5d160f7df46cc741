#pragma once

// For tests: real databases, made for one test and deleted after it.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/secrets/secret.hpp"
#include "base/testing/test_run.hpp"
#include "store/testing/postgres_server.hpp"
#include "store/testing/test_support.hpp"

namespace proteus::datasets::test {

using store::test::PostgresServer;
using store::test::TemporaryDirectory;

// What differs between the databases in the statements of tests.
struct Dialect {
  std::string bytes;  // type of a binary column
  std::string blob;   // eight bytes that are not text
};

class TestDatabase {
 public:
  virtual ~TestDatabase() = default;
  virtual std::string dsn() const = 0;
  virtual void execute(const std::string& sql) = 0;
  // Returns the same text as long as nothing in the database changes.
  virtual std::string fingerprint() = 0;
  virtual Dialect dialect() const = 0;
};

class SqliteDatabase final : public TestDatabase {
 public:
  SqliteDatabase() { execute("CREATE TABLE unused (id integer); DROP TABLE unused"); }

  std::filesystem::path file() const { return directory_.path() / "source.db"; }
  std::string dsn() const override { return "sqlite://" + file().string(); }
  void execute(const std::string& sql) override {
    sqlite3* database = nullptr;
    if (sqlite3_open(file().c_str(), &database) != SQLITE_OK) throw std::runtime_error("no database");
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> closed(database, sqlite3_close);
    sqlite3_exec(database, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr);
    char* message = nullptr;
    if (sqlite3_exec(database, ("BEGIN;" + sql + ";COMMIT").c_str(), nullptr, nullptr, &message) != SQLITE_OK) {
      const std::string text = message;
      sqlite3_free(message);
      throw std::runtime_error(text + " in " + sql.substr(0, 200));
    }
  }
  std::string fingerprint() override { return store::test::bytes_of_file(file()); }
  Dialect dialect() const override { return {"BLOB", "x'00FF00FF00FF00FF'"}; }

 private:
  TemporaryDirectory directory_;
};

class PostgresDatabase final : public TestDatabase {
 public:
  std::string dsn() const override { return server_.dsn(); }
  void execute(const std::string& sql) override { (void)query(sql); }
  std::string fingerprint() override {
    std::string all;
    for (const auto& table : query("SELECT quote_ident(table_name) FROM information_schema.tables "
                                   "WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1"))
      all += table +
             query(fmt::format("SELECT coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '') FROM {} t", table))
                 .front();
    return all;
  }
  Dialect dialect() const override { return {"bytea", "'\\x00FF00FF00FF00FF'::bytea"}; }

  // Returns the first column.
  std::vector<std::string> query(const std::string& sql) {
    const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(PQconnectdb(server_.conninfo().c_str()), PQfinish);
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection.get(), sql.c_str()), PQclear);
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
      throw std::runtime_error(std::string(PQerrorMessage(connection.get())) + " in " + sql.substr(0, 200));
    std::vector<std::string> rows;
    for (int row = 0; row < PQntuples(result.get()); ++row)
      rows.emplace_back(PQgetvalue(result.get(), row, 0));
    return rows;
  }

  // Stops the server and its client processes while it lives, like a machine that hangs.
  class Still {
   public:
    explicit Still(PostgresDatabase& database) {
      for (const auto& pid : database.query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' "
                                            "AND pid <> pg_backend_pid()"))
        held_.push_back(std::stoi(pid));
      held_.push_back(database.server_.pid());
      for (const pid_t pid : held_)
        ::kill(pid, SIGSTOP);
    }
    ~Still() {
      for (const pid_t pid : held_)
        ::kill(pid, SIGCONT);
    }
    Still(const Still&) = delete;
    Still& operator=(const Still&) = delete;

   private:
    std::vector<pid_t> held_;
  };

 private:
  PostgresServer server_;
};

// A kind of source under test.
struct SourceKind {
  std::string name;
  std::function<std::unique_ptr<TestDatabase>()> make;

  friend void PrintTo(const SourceKind& kind, std::ostream* out) { *out << kind.name; }  // NOLINT: GoogleTest's name
};

inline std::string name_of(const testing::TestParamInfo<SourceKind>& kind) { return kind.param.name; }

inline std::vector<SourceKind> source_kinds() {
  return {{"SQLite", [] { return std::make_unique<SqliteDatabase>(); }},
          {"PostgreSQL", [] { return std::make_unique<PostgresDatabase>(); }}};
}

// People in departments, with projects between them; the same in each kind of database.
inline void make_company(TestDatabase& database) {
  database.execute(
      "CREATE TABLE departments (id integer PRIMARY KEY, code varchar(8) UNIQUE NOT NULL, name varchar(80));"
      "CREATE TABLE employees (id integer PRIMARY KEY, name text NOT NULL, email text UNIQUE, title text, "
      " salary double precision, password_hash text, dept_code varchar(8) REFERENCES departments (code), "
      " manager_id integer);"
      "CREATE TABLE projects (id integer PRIMARY KEY, name text);"
      "CREATE TABLE assignments (employee_id integer REFERENCES employees (id), "
      " project_id integer REFERENCES projects (id), PRIMARY KEY (employee_id, project_id));"
      "INSERT INTO departments VALUES (1, 'RES', 'Research'), (2, 'SAL', 'Sales'), (3, 'EMP', NULL);"
      "INSERT INTO employees VALUES "
      " (1, 'Ada Stone', 'ada@acme.test', 'Lead', 10.5, 'x', 'RES', NULL),"
      " (2, 'Bo Reed', 'bo@acme.test', NULL, 9, 'x', 'RES', 1),"
      " (3, 'Cy Lane', 'cy@acme.test', 'Rep', 8.25, 'x', 'SAL', 1),"
      " (4, 'Bo Reed', 'bo4@acme.test', 'Rep', 7, 'x', 'SAL', 99),"
      " (5, 'Dee Marsh', NULL, 'Clerk', NULL, 'x', NULL, 3);"
      "INSERT INTO projects VALUES (10, 'Apollo'), (11, 'Ada Stone Award');"
      "INSERT INTO assignments VALUES (1, 10), (2, 10), (3, 10), (3, 11);");
}

inline constexpr std::string_view kCompanyMapping = R"([dataset]
name = "acme"
dsn_env = "ACME_DSN"
description = "A company of five."

[[entities]]
table = "employees"
type = "person"
id_column = "id"
name_column = "name"
alias_columns = ["email"]
attribute_columns = ["title", "salary"]

[[entities]]
table = "departments"
type = "department"
id_column = "id"
name_column = "name"
alias_columns = ["code"]

[[entities]]
table = "projects"
type = "project"
id_column = "id"
name_column = "name"

[[relationships]]
type = "MEMBER_OF"
from_table = "employees"
from_column = "dept_code"
to_table = "departments"
to_column = "code"

[[relationships]]
type = "REPORTS_TO"
from_table = "employees"
from_column = "manager_id"
to_table = "employees"
to_column = "id"

[[relationships]]
type = "WORKS_ON"
from_table = "employees"
from_column = "id"
to_table = "projects"
to_column = "id"
through_table = "assignments"
through_from_column = "employee_id"
through_to_column = "project_id"
)";

}  // namespace proteus::datasets::test
