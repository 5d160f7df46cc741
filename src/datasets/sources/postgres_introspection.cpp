#include "datasets/sources/postgres_introspection.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace proteus::datasets {
namespace {

constexpr const char* kTables =
    "SELECT c.relname, c.relkind IN ('v', 'm'), coalesce(obj_description(c.oid, 'pg_class'), '') "
    "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition "
    "ORDER BY c.relname COLLATE \"C\" LIMIT $2::int8";

constexpr const char* kColumns =
    "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, "
    "coalesce(col_description(c.oid, a.attnum), '') "
    "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND a.attnum > 0 "
    "AND NOT a.attisdropped "
    "ORDER BY c.relname COLLATE \"C\", a.attnum";

// One row for each column of a key, in order.
constexpr const char* kKeys =
    "SELECT c.relname, i.indexrelid::text, i.indisprimary, a.attname "
    "FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
    "CROSS JOIN LATERAL unnest(i.indkey[0:i.indnkeyatts-1]) WITH ORDINALITY AS k(attnum, place) "
    "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum "
    "WHERE n.nspname = $1 AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indisvalid "
    "ORDER BY c.relname COLLATE \"C\", i.indexrelid, k.place";

constexpr const char* kForeignKeys =
    "SELECT f.oid::text, c.relname, a.attname, t.relname, b.attname "
    "FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
    "JOIN pg_class t ON t.oid = f.confrelid JOIN pg_namespace m ON m.oid = t.relnamespace "
    "CROSS JOIN LATERAL unnest(f.conkey, f.confkey) WITH ORDINALITY AS k(own, other, place) "
    "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.own "
    "JOIN pg_attribute b ON b.attrelid = t.oid AND b.attnum = k.other "
    "WHERE f.contype = 'f' AND n.nspname = $1 AND m.nspname = $1 AND f.conparentid = 0 "
    "ORDER BY c.relname COLLATE \"C\", f.conname COLLATE \"C\", k.place";

class PostgresIntrospection {
 public:
  PostgresIntrospection(PostgresConnection& connection, const std::string& schema, const Patience& patience)
      : connection_(connection), schema_(schema), patience_(patience) {}

  Result<Introspection> run() {
    for (const auto step : {&PostgresIntrospection::tables, &PostgresIntrospection::columns,
                            &PostgresIntrospection::keys, &PostgresIntrospection::foreign_keys}) {
      if (auto looked = (this->*step)(); !looked) return std::unexpected(std::move(looked.error()));
    }
    return std::move(found_);
  }

 private:
  Result<PostgresResult> ask(const char* sql) {
    const std::vector<std::string> parameters = {schema_};
    return connection_.ask(sql, parameters, patience_);
  }

  TableFacts* table(std::string_view name) {
    const auto found = std::ranges::lower_bound(found_.tables, name, {}, &TableFacts::name);
    return found == found_.tables.end() || found->name != name ? nullptr : &*found;
  }

  Result<> tables() {
    const std::vector<std::string> parameters = {schema_, std::to_string(limits::kTables + 1)};
    auto rows = connection_.ask(kTables, parameters, patience_);
    if (!rows) return std::unexpected(std::move(rows.error()));
    for (int row = 0; row < rows->rows(); ++row) {
      if (found_.tables.size() == limits::kTables) {
        found_.truncated = true;
        break;
      }
      found_.tables.push_back(
          {.name = rows->string(row, 0), .is_view = rows->flag(row, 1), .comment = rows->string(row, 2)});
    }
    // The server has sorted by the bytes of its own encoding.
    std::ranges::sort(found_.tables, {}, &TableFacts::name);
    return {};
  }

  Result<> columns() {
    auto rows = ask(kColumns);
    if (!rows) return std::unexpected(std::move(rows.error()));
    TableFacts* at = nullptr;
    for (int row = 0; row < rows->rows(); ++row) {
      if (at == nullptr || at->name != rows->text(row, 0)) at = table(rows->text(row, 0));
      if (at == nullptr) continue;
      if (at->columns.size() == limits::kTableColumns) {
        found_.truncated = true;
        continue;
      }
      at->columns.push_back({.name = rows->string(row, 1),
                             .type = rows->string(row, 2),
                             .nullable = !rows->flag(row, 3),
                             .comment = rows->string(row, 4)});
    }
    return {};
  }

  Result<> keys() {
    auto rows = ask(kKeys);
    if (!rows) return std::unexpected(std::move(rows.error()));
    std::string_view index;
    for (int row = 0; row < rows->rows(); ++row) {
      TableFacts* const at = table(rows->text(row, 0));
      if (at == nullptr) continue;
      const bool primary = rows->flag(row, 2);
      if (rows->text(row, 1) != index && !primary) at->unique.emplace_back();
      index = rows->text(row, 1);
      (primary ? at->primary_key : at->unique.back()).push_back(rows->string(row, 3));
    }
    return {};
  }

  Result<> foreign_keys() {
    auto rows = ask(kForeignKeys);
    if (!rows) return std::unexpected(std::move(rows.error()));
    std::string_view constraint;
    for (int row = 0; row < rows->rows(); ++row) {
      if (rows->text(row, 0) != constraint) found_.foreign_keys.emplace_back();
      constraint = rows->text(row, 0);
      ForeignKey& key = found_.foreign_keys.back();
      key.from_table = rows->string(row, 1);
      key.from_columns.push_back(rows->string(row, 2));
      key.to_table = rows->string(row, 3);
      key.to_columns.push_back(rows->string(row, 4));
    }
    return {};
  }

  PostgresConnection& connection_;
  const std::string& schema_;
  const Patience& patience_;
  Introspection found_;
};

}  // namespace

Result<Introspection> introspect_postgres(PostgresConnection& connection, const std::string& schema,
                                          const Patience& patience) {
  return PostgresIntrospection(connection, schema, patience).run();
}

}  // namespace proteus::datasets
