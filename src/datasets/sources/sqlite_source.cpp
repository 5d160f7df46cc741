#include "datasets/sources/sqlite_source.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/log/log.hpp"
#include "datasets/sources/sqlite_introspection.hpp"

namespace proteus::datasets {
namespace {

constexpr int kStepsBetweenLooks = 1000;  // instructions of SQLite's virtual machine: about 20 µs
constexpr int kLongestCell = 1 << 28;     // SQLite refuses to read longer values
constexpr std::size_t kSqliteStatements = 1000;
constexpr std::size_t kExpectedRows = 64;  // room for these from the start

std::string quote(std::string_view identifier) {
  const std::string terminated(identifier);
  const std::unique_ptr<char, void (*)(void*)> quoted(sqlite3_mprintf("\"%w\"", terminated.c_str()), sqlite3_free);
  if (!quoted) throw std::bad_alloc();
  return quoted.get();
}

// Returns a second condition for a comparison that an index serves: a column may ignore case, and an integer equals
// texts that are written differently. Reals are exempt, because SQLite writes 17.0 differently than this code.
std::string and_as_text(std::string_view column, std::size_t condition, std::string_view collation) {
  return fmt::format(" AND (typeof({0}) = 'real' OR CAST({0} AS TEXT) = ?{1} COLLATE {2})", column, condition + 1,
                     collation);
}

// Returns whether the column converts what it is compared with. Columns without a type and expressions of views do not,
// so that the text 7 differs from the number there.
bool has_affinity(sqlite3& database, const Select& select, const Condition& condition) {
  const char* type = nullptr;
  const int code =
      sqlite3_table_column_metadata(&database, "main", std::string(select.table).c_str(),
                                    std::string(condition.column).c_str(), &type, nullptr, nullptr, nullptr, nullptr);
  return code == SQLITE_OK && type != nullptr && sqlite3_strlike("%blob%", type, 0) != 0 &&
         sqlite3_stricmp(type, "any") != 0;
}

// Returns a comparison with the text of a value, or with the number that is written like this. A cast without the
// addition would have an affinity, and no index of the column would serve it.
std::string equals(sqlite3& database, const Select& select, std::size_t condition) {
  const std::string column = quote(select.any_of[condition].column);
  if (has_affinity(database, select, select.any_of[condition])) return column + " = ?";
  return fmt::format("{0} IN (?{1}, iif(CAST(?{1} + 0 AS TEXT) = ?{1}, ?{1} + 0, NULL))", column, condition + 1);
}

std::string write(sqlite3& database, const Select& select) {
  std::string sql = select.distinct ? "SELECT DISTINCT " : "SELECT ";
  for (std::size_t i = 0; i < select.columns.size(); ++i) {
    sql += (i > 0 ? "," : "") + quote(select.columns[i]);
    // Values that the column holds to be equal may lead to different rows elsewhere.
    if (select.distinct) sql += " COLLATE BINARY";
  }
  sql += " FROM main." + quote(select.table) + " WHERE ";
  for (std::size_t i = 0; i < select.any_of.size(); ++i) {
    const Condition& condition = select.any_of[i];
    if (i > 0) sql += " OR ";
    const std::string column = quote(condition.column);
    switch (condition.comparison) {
      case Comparison::equal: sql += equals(database, select, i); break;
      case Comparison::same_key: sql += column + " = ?"; break;
      case Comparison::same_text: sql += equals(database, select, i) + and_as_text(column, i, "BINARY"); break;
      case Comparison::equal_without_case:
        sql += column + " = ? COLLATE NOCASE" + and_as_text(column, i, "NOCASE");
        break;
      case Comparison::begins_with: sql += column + " LIKE ? ESCAPE '\\'"; break;
    }
  }
  // The column may have been declared with another collation.
  if (!select.order_by.empty()) sql += fmt::format(" ORDER BY {} COLLATE BINARY NULLS LAST", quote(select.order_by));
  return sql + " LIMIT ?";
}

// Appends a key that differs for selects with different statements, and costs less than writing the statement.
void append_shape(std::string& shape, const Select& select) {
  const auto add = [&](std::string_view name, char kind) {
    const std::size_t size = name.size();
    shape.append(reinterpret_cast<const char*>(&size), sizeof(size));
    shape += name;
    shape += kind;
  };
  add(select.table, 't');
  for (const auto& column : select.columns)
    add(column, 'c');
  for (const Condition& condition : select.any_of)
    add(condition.column, static_cast<char>('0' + std::to_underlying(condition.comparison)));
  add(select.order_by, select.distinct ? 'd' : 'o');
}

class SqliteSource final : public Source {
 public:
  explicit SqliteSource(sqlite3* database) : database_(database) {
    sqlite3_progress_handler(
        database, kStepsBetweenLooks, [](void* self) { return static_cast<SqliteSource*>(self)->interrupts(); }, this);
    sqlite3_busy_handler(
        database, [](void* self, int tries) { return static_cast<SqliteSource*>(self)->waits(tries); }, this);
  }

  Result<> begin(const Patience& patience) override {
    patience_ = &patience;
    return execute(begin_, "BEGIN");
  }

  void end() override {
    patience_ = nullptr;
    if (sqlite3_get_autocommit(database_.get()) == 0) (void)execute(rollback_, "ROLLBACK");
  }

  Result<Rows> read(const Select& select) override {
    auto statement = prepare(select);
    if (!statement) return std::unexpected(statement.error());
    const Use use{*statement};
    int index = 0;
    for (const Condition& condition : select.any_of) {
      if (bind(*statement, ++index, condition) != SQLITE_OK) return std::unexpected(fault());
    }
    sqlite3_bind_int64(*statement, ++index, static_cast<std::int64_t>(select.limit));
    const auto columns = static_cast<int>(select.columns.size());
    Rows rows(select.columns.size(), std::min(select.limit, kExpectedRows));
    for (;;) {
      const int code = sqlite3_step(*statement);
      if (code == SQLITE_DONE) return rows;
      if (code != SQLITE_ROW) return std::unexpected(fault());
      for (int column = 0; column < columns; ++column)
        take(*statement, column, rows);
    }
  }

  Result<Introspection> introspect(const Patience& patience) override {
    if (auto begun = begin(patience); !begun) return std::unexpected(std::move(begun.error()));
    auto found = introspect_sqlite(*database_);
    auto failed = found ? std::optional<Error>() : fault();
    end();
    if (failed) return std::unexpected(std::move(*failed));
    return std::move(*found);
  }

  bool is_usable() const override { return usable_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  struct Use {
    sqlite3_stmt* statement;
    ~Use() {
      sqlite3_reset(statement);
      sqlite3_clear_bindings(statement);
    }
  };

  int interrupts() const { return patience_ != nullptr && patience_->is_over() ? 1 : 0; }
  int waits(int tries) const {
    if (patience_ == nullptr || patience_->is_over()) return 0;
    sqlite3_sleep(tries < 10 ? 1 : 20);
    return 1;
  }

  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  // Runs a statement that begins or ends a transaction. Its first use prepares it.
  Result<> execute(Statement& statement, std::string_view sql) {
    if (!statement) {
      auto made = prepare(sql);
      if (!made) return std::unexpected(std::move(made.error()));
      statement = std::move(*made);
    }
    const Use use{statement.get()};
    if (sqlite3_step(statement.get()) != SQLITE_DONE) return std::unexpected(fault());
    return {};
  }

  Result<sqlite3_stmt*> prepare(const Select& select) {
    shape_.clear();
    append_shape(shape_, select);
    if (const auto found = statements_.find(shape_); found != statements_.end()) return found->second.get();
    if (statements_.size() >= kSqliteStatements) statements_.clear();
    auto statement = prepare(write(*database_, select));
    if (!statement) return std::unexpected(std::move(statement.error()));
    // A table of the source may be anything, so the statement itself is checked, too.
    if (sqlite3_stmt_readonly(statement->get()) == 0)
      return std::unexpected(errors::forbidden("reading the source would write"));
    return statements_.emplace(shape_, std::move(*statement)).first->second.get();
  }

  Result<Statement> prepare(std::string_view sql) {
    sqlite3_stmt* made = nullptr;
    const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    Statement statement(made);
    if (code != SQLITE_OK) return std::unexpected(fault());
    return statement;
  }

  static int bind(sqlite3_stmt* statement, int index, const Condition& condition) {
    if (condition.comparison == Comparison::begins_with)
      return bind_text(statement, index, prefix_pattern(to_text(condition.value)));
    if (const auto* number = std::get_if<std::int64_t>(&condition.value))
      return sqlite3_bind_int64(statement, index, *number);
    if (const auto* number = std::get_if<double>(&condition.value))
      return sqlite3_bind_double(statement, index, *number);
    return bind_text(statement, index, to_text(condition.value));
  }

  static int bind_text(sqlite3_stmt* statement, int index, const std::string& text) {
    return sqlite3_bind_text64(statement, index, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }

  static void take(sqlite3_stmt* statement, int column, Rows& rows) {
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_INTEGER: return rows.add(std::int64_t{sqlite3_column_int64(statement, column)});
      case SQLITE_FLOAT: return rows.add(sqlite3_column_double(statement, column));
      case SQLITE_BLOB: return rows.add(Bytes{static_cast<std::size_t>(sqlite3_column_bytes(statement, column))});
      case SQLITE_TEXT: {
        // The text first: a database may be in UTF-16, and this converts it before its bytes are counted.
        const auto* start = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
        return rows.add(take_text(std::string_view(start, start == nullptr ? 0 : size), limits::kCellBytes));
      }
      default: return rows.add(std::monostate{});
    }
  }

  Error fault() {
    const int code = sqlite3_extended_errcode(database_.get());
    switch (code & 0xff) {
      case SQLITE_INTERRUPT:
        if (patience_ != nullptr) return patience_->error();
        return errors::timeout("reading the source");
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        if (patience_ != nullptr && patience_->is_over()) return errors::timeout("waiting for a lock of the source");
        return errors::unreachable("the source is locked by another program");
      case SQLITE_NOTADB:
        usable_ = false;
        return errors::unreachable("the file of the source is not an SQLite database");
      case SQLITE_CORRUPT: usable_ = false; return errors::unreachable("the database of the source is damaged");
      case SQLITE_CANTOPEN:
      case SQLITE_IOERR:
      case SQLITE_PERM:
        usable_ = false;
        return errors::unreachable(fmt::format("the file of the source cannot be read: {}", sqlite3_errstr(code)));
      case SQLITE_TOOBIG: return errors::too_large("a value of the source", kLongestCell);
      default: return errors::invalid(log::printable(sqlite3_errmsg(database_.get()), 300));
    }
  }

  std::unique_ptr<sqlite3, Close> database_;
  // The statements are destroyed before the database.
  std::map<std::string, Statement, std::less<>> statements_;  // by shape
  Statement begin_;
  Statement rollback_;
  std::string shape_;  // a buffer
  const Patience* patience_ = nullptr;
  bool usable_ = true;
};

}  // namespace

Result<std::unique_ptr<Source>> open_sqlite(const std::string& path) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  if (code != SQLITE_OK) {
    sqlite3_close_v2(opened);
    return std::unexpected(
        errors::unreachable(fmt::format("the file of the source cannot be opened: {}", sqlite3_errstr(code))));
  }
  auto source = std::make_unique<SqliteSource>(opened);
  // The file is untrusted: its schema must not run functions, an unknown column must be an error and not a string, and
  // no statement may write.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kLongestCell);
  sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_exec(opened, "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY", nullptr,
               nullptr, nullptr);
  return source;
}

}  // namespace proteus::datasets
