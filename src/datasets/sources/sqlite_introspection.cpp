#include "datasets/sources/sqlite_introspection.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include <sqlite3.h>

namespace proteus::datasets {
namespace {

class Cursor {
 public:
  Cursor(sqlite3& database, const char* sql, std::span<const std::string> parameters) {
    sqlite3_stmt* made = nullptr;
    code_ = sqlite3_prepare_v2(&database, sql, -1, &made, nullptr);
    statement_.reset(made);
    int index = 0;
    for (const auto& text : parameters) {
      if (code_ == SQLITE_OK)
        code_ = sqlite3_bind_text64(made, ++index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
  }

  bool next() {
    if (code_ != SQLITE_OK) return false;
    const int stepped = sqlite3_step(statement_.get());
    if (stepped != SQLITE_ROW && stepped != SQLITE_DONE) code_ = stepped;
    return stepped == SQLITE_ROW;
  }
  bool failed() const { return code_ != SQLITE_OK; }

  std::string text(int column) const {
    // The text first: a database may be in UTF-16, and this converts it before its bytes are counted.
    const auto* start = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
    return start == nullptr ? std::string() : std::string(start, size);
  }
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  bool is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int code_ = 0;
};

class SqliteIntrospection {
 public:
  explicit SqliteIntrospection(sqlite3& database) : database_(database) {}

  std::optional<Introspection> run() {
    read(
        "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') "
        "AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name",
        {}, [this](const Cursor& cursor) {
          if (found_.tables.size() == limits::kTables) {
            found_.truncated = true;
            return;
          }
          found_.tables.push_back({.name = cursor.text(0), .is_view = cursor.text(1) == "view"});
        });
    for (TableFacts& table : found_.tables) {
      look_at_columns(table);
      look_at_keys(table);
    }
    for (const TableFacts& table : found_.tables)
      look_at_foreign_keys(table);
    if (failed_) return std::nullopt;
    return std::move(found_);
  }

 private:
  void read(const char* sql, const std::vector<std::string>& parameters,
            const std::function<void(const Cursor&)>& row) {
    if (failed_) return;
    Cursor cursor(database_, sql, parameters);
    while (cursor.next())
      row(cursor);
    failed_ = cursor.failed();
  }

  void look_at_columns(TableFacts& table) {
    std::map<std::int64_t, std::string> key;
    read("SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?)", {table.name},
         [&](const Cursor& cursor) {
           if (cursor.number(4) == 1) return;
           if (table.columns.size() == limits::kTableColumns) {
             found_.truncated = true;
             return;
           }
           table.columns.push_back({.name = cursor.text(0), .type = cursor.text(1), .nullable = cursor.number(2) == 0});
           if (cursor.number(3) > 0) key.emplace(cursor.number(3), cursor.text(0));
         });
    for (auto& [position, column] : key)
      table.primary_key.push_back(std::move(column));
  }

  void look_at_keys(TableFacts& table) {
    std::vector<std::string> indexes;
    read("SELECT name FROM pragma_index_list(?) WHERE \"unique\" = 1 AND partial = 0 AND origin <> 'pk'", {table.name},
         [&](const Cursor& cursor) { indexes.push_back(cursor.text(0)); });
    for (const auto& index : indexes) {
      std::vector<std::string> columns;
      bool plain = true;
      read("SELECT name FROM pragma_index_info(?) ORDER BY seqno", {index}, [&](const Cursor& cursor) {
        plain = plain && !cursor.is_null(0);
        columns.push_back(cursor.text(0));
      });
      if (plain && !columns.empty()) table.unique.push_back(std::move(columns));
    }
  }

  void look_at_foreign_keys(const TableFacts& table) {
    std::map<std::int64_t, ForeignKey> keys;
    read("SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?) ORDER BY id, seq", {table.name},
         [&](const Cursor& cursor) {
           ForeignKey& key = keys[cursor.number(0)];
           key.from_table = table.name;
           key.to_table = actual_name(cursor.text(1));
           key.from_columns.push_back(cursor.text(2));
           if (!cursor.is_null(3)) key.to_columns.push_back(cursor.text(3));
         });
    for (auto& [id, key] : keys) {
      const TableFacts* target = found_.table(key.to_table);
      // Without columns, the foreign key means the primary key of the other table.
      if (key.to_columns.empty() && target != nullptr) key.to_columns = target->primary_key;
      if (key.to_columns.size() == key.from_columns.size()) found_.foreign_keys.push_back(std::move(key));
    }
  }

  // Returns the table's own spelling of its name: SQLite ignores case in the names of tables.
  std::string actual_name(const std::string& name) const {
    const auto same = [&](const TableFacts& table) { return sqlite3_stricmp(table.name.c_str(), name.c_str()) == 0; };
    const auto found = std::ranges::find_if(found_.tables, same);
    return found == found_.tables.end() ? name : found->name;
  }

  sqlite3& database_;
  Introspection found_;
  bool failed_ = false;
};

}  // namespace

std::optional<Introspection> introspect_sqlite(sqlite3& database) { return SqliteIntrospection(database).run(); }

}  // namespace proteus::datasets
