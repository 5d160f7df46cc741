#include "datasets/sources/postgres_source.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/text/ascii.hpp"
#include "datasets/sources/postgres_connection.hpp"
#include "datasets/sources/postgres_introspection.hpp"

namespace proteus::datasets {
namespace {

constexpr std::size_t kMaxStatements = 1000;

// How values of a type are read and compared.
enum class Family : std::uint8_t { integer, real, numeric, flag, text, bytes, uuid, date, other };

Family family_of(std::string_view type) {
  if (type == "int2" || type == "int4" || type == "int8" || type == "oid") return Family::integer;
  if (type == "float4" || type == "float8") return Family::real;
  if (type == "bool") return Family::flag;
  if (type == "text" || type == "varchar" || type == "bpchar" || type == "name" || type == "citext")
    return Family::text;
  if (type == "bytea") return Family::bytes;
  if (type == "numeric") return Family::numeric;
  if (type == "uuid") return Family::uuid;
  if (type == "date") return Family::date;
  return Family::other;
}

bool is_ordered_by_value(std::string_view type) {
  constexpr std::array<std::string_view, 4> kTimes = {"time", "timetz", "timestamp", "timestamptz"};
  switch (family_of(type)) {
    case Family::integer:
    case Family::real:
    case Family::numeric:
    case Family::flag:
    case Family::date: return true;
    default: return std::ranges::find(kTimes, type) != kTimes.end();
  }
}

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Returns whether PostgreSQL writes a UUID like this: lower case, with hyphens.
bool is_uuid(std::string_view text) {
  constexpr std::string_view kShape = "00000000-0000-0000-0000-000000000000";
  return std::ranges::equal(text, kShape, [](char c, char wanted) {
    return wanted == '-' ? c == '-' : is_digit(c) || (c >= 'a' && c <= 'f');
  });
}

template <class Number>
bool is_real(std::string_view text) {
  return text.find_first_not_of("0123456789.e+-") == std::string_view::npos && parse<Number>(text);
}

bool is_date(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00";
  const bool fits =
      std::ranges::equal(text, kShape, [](char c, char wanted) { return wanted == '-' ? c == '-' : is_digit(c); });
  if (!fits || text.starts_with("0000")) return false;
  const auto part = [&](std::size_t at, std::size_t size) {
    return parse<unsigned>(text.substr(at, size)).value_or(0);
  };
  return std::chrono::year_month_day(std::chrono::year(static_cast<int>(part(0, 4))), std::chrono::month(part(5, 2)),
                                     std::chrono::day(part(8, 2)))
      .ok();
}

bool is_no_finite_number(std::string_view text) { return text == "NaN" || text == "Infinity" || text == "-Infinity"; }

// Returns the type that a text must be cast to so that an index serves the comparison; empty if the server might reject
// the text, which is then compared as text only. Returns nothing if no value of the type is written like this.
std::optional<std::string_view> cast_of(std::string_view type, std::string_view text) {
  const auto if_number = [&](bool is_number) -> std::optional<std::string_view> {
    if (is_number) return type;
    return is_no_finite_number(text) ? std::optional<std::string_view>("") : std::nullopt;
  };
  switch (family_of(type)) {
    case Family::numeric: return if_number(shortest_decimal(text).has_value());
    case Family::real: return if_number(type == "float4" ? is_real<float>(text) : is_real<double>(text));
    case Family::uuid: return is_uuid(text) ? std::optional(type) : std::nullopt;
    case Family::date: return is_date(text) ? type : "";
    default: return "";
  }
}

class PostgresSource final : public Source {
 public:
  PostgresSource(PostgresConnection connection, std::string schema)
      : connection_(std::move(connection)), schema_(std::move(schema)) {}

  Result<> begin(const Patience& patience) override {
    patience_ = &patience;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(patience.until - std::chrono::steady_clock::now());
    const std::vector<std::string> limit = {std::to_string(std::max<std::int64_t>(left.count(), 1))};
    auto begun = connection_.ask("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", {}, patience);
    if (begun) {
      begun = connection_.ask("SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $1, true)",
                              limit, patience);
    }
    if (!begun) return std::unexpected(std::move(begun.error()));
    return {};
  }

  void end() override {
    patience_ = nullptr;
    if (!connection_.is_usable()) return;
    const Patience brief{.until = std::chrono::steady_clock::now() + std::chrono::seconds(2)};
    (void)connection_.ask("ROLLBACK", {}, brief);
  }

  Result<Rows> read(const Select& select) override {
    auto types = types_of(select.table);
    if (!types) return std::unexpected(types.error());
    Statement statement;
    if (auto written = write(select, **types, statement); !written) return std::unexpected(std::move(written.error()));
    if (statement.conditions.empty()) return Rows{};
    auto name = prepared(statement.sql);
    if (!name) return std::unexpected(std::move(name.error()));
    auto answer = connection_.ask_prepared(*name, statement.parameters, *patience_);
    if (!answer) return std::unexpected(std::move(answer.error()));
    Rows rows(select.columns.size(), static_cast<std::size_t>(answer->rows()));
    for (int row = 0; row < answer->rows(); ++row) {
      for (std::size_t i = 0; i < select.columns.size(); ++i)
        rows.add(take(*answer, row, static_cast<int>(2 * i), statement.families[i]));
    }
    return rows;
  }

  Result<Introspection> introspect(const Patience& patience) override {
    auto begun = begin(patience);
    auto found = begun ? introspect_postgres(connection_, schema_, patience)
                       : Result<Introspection>(std::unexpected(std::move(begun.error())));
    end();
    return found;
  }

  bool is_usable() const override { return connection_.is_usable(); }

 private:
  using Types = std::map<std::string, std::string, std::less<>>;  // by column
  struct Statement {
    std::string sql;
    std::string conditions;
    std::vector<std::string> parameters;
    std::vector<Family> families;
  };

  Result<const Types*> types_of(std::string_view table) {
    if (const auto found = types_.find(table); found != types_.end()) return &found->second;
    const std::vector<std::string> parameters = {schema_, std::string(table)};
    auto answer = connection_.ask(
        "SELECT a.attname, coalesce(b.typname, t.typname) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
        "JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = a.atttypid "
        "LEFT JOIN pg_type b ON b.oid = nullif(t.typbasetype, 0) "
        "WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped",
        parameters, *patience_);
    if (!answer) return std::unexpected(std::move(answer.error()));
    if (answer->rows() == 0)
      return std::unexpected(errors::invalid(fmt::format("the source has no table {}", log::printable(table))));
    Types types;
    for (int row = 0; row < answer->rows(); ++row)
      types.emplace(answer->string(row, 0), answer->string(row, 1));
    return &types_.emplace(std::string(table), std::move(types)).first->second;
  }

  static Result<std::string_view> type_of(const Types& types, std::string_view column) {
    const auto found = types.find(column);
    if (found == types.end())
      return std::unexpected(errors::invalid(fmt::format("the source has no column {}", log::printable(column))));
    return std::string_view(found->second);
  }

  // Writes the statement. Each column becomes two columns of the answer: its text, cut by the server, and its full
  // length.
  Result<> write(const Select& select, const Types& types, Statement& statement) {
    std::string& sql = statement.sql;
    std::string order;
    if (!select.order_by.empty()) {
      const auto type = type_of(types, select.order_by);
      const auto quoted = connection_.quote(select.order_by);
      if (!type) return std::unexpected(type.error());
      if (!quoted) return std::unexpected(quoted.error());
      // A bare name would mean the output column of that name, which is text.
      order = fmt::format("t.{}{}", *quoted, is_ordered_by_value(*type) ? "" : "::text COLLATE \"C\"");
    }
    sql = select.distinct ? fmt::format("SELECT DISTINCT ON ({}) ", order) : "SELECT ";
    for (const auto& column : select.columns) {
      const auto type = type_of(types, column);
      const auto quoted = connection_.quote(column);
      if (!type) return std::unexpected(type.error());
      if (!quoted) return std::unexpected(quoted.error());
      const Family family = family_of(*type);
      if (!statement.families.empty()) sql += ',';
      if (family == Family::bytes) {
        sql += fmt::format("NULL::text, octet_length({})", *quoted);
      } else if (family == Family::integer || family == Family::real || family == Family::flag) {
        sql += fmt::format("{}::text, NULL", *quoted);
      } else {
        sql += fmt::format("left({0}::text, {1}), octet_length({0}::text)", *quoted, limits::kCellBytes);
      }
      statement.families.push_back(family);
    }
    for (const Condition& condition : select.any_of) {
      if (auto added = add(condition, types, statement); !added) return added;
    }
    const auto schema = connection_.quote(schema_);
    const auto table = connection_.quote(select.table);
    if (!schema) return std::unexpected(schema.error());
    if (!table) return std::unexpected(table.error());
    sql += fmt::format(" FROM {}.{} AS t WHERE {}", *schema, *table, statement.conditions);
    if (!order.empty()) sql += " ORDER BY " + order;
    statement.parameters.push_back(std::to_string(select.limit));
    sql += fmt::format(" LIMIT ${}::int8", statement.parameters.size());
    return {};
  }

  // Adds a condition. Leaves out a value that no value of the column's type can equal, because the server would reject
  // the statement.
  Result<> add(const Condition& condition, const Types& types, Statement& statement) {
    const auto type = type_of(types, condition.column);
    const auto quoted = connection_.quote(condition.column);
    if (!type) return std::unexpected(type.error());
    if (!quoted) return std::unexpected(quoted.error());
    const Family family = family_of(*type);
    std::string text = to_text(condition.value);
    if (family == Family::bytes || text.find('\0') != std::string::npos) return {};
    const std::size_t number = statement.parameters.size() + 1;
    const bool is_same_text = condition.comparison == Comparison::same_text;
    const bool is_same_key = condition.comparison == Comparison::same_key;
    std::string written;
    switch (condition.comparison) {
      case Comparison::equal:
      case Comparison::same_key:
      case Comparison::same_text:
        if (family == Family::integer) {
          const auto integer = parse<std::int64_t>(is_same_key ? shortest_decimal(text).value_or(text) : text);
          const bool is_oid = *type == "oid";
          if (!integer || (is_oid && (*integer < 0 || *integer > UINT32_MAX))) return {};
          if (is_same_text && text != std::to_string(*integer)) return {};
          text = std::to_string(*integer);
          // As wide as possible: the column may have been widened since its type was read.
          written = fmt::format("{} = ${}::{}", *quoted, number, is_oid ? "oid" : "int8");
        } else if (family == Family::text) {
          // A key is compared by the column's own operator: citext ignores case, char(n) spaces at the end.
          const bool has_operator = is_same_key && (*type == "citext" || *type == "bpchar");
          written = fmt::format("{} = ${}{}", *quoted, number, has_operator ? "" : "::text");
        } else {
          const auto cast = cast_of(*type, text);
          if (!cast) return {};
          if (!cast->empty()) written = fmt::format("{} = ${}::text::{}", *quoted, number, *cast);
          // Equal values may be written differently, such as 1.5 and 1.50.
          if (cast->empty() || !is_same_key)
            written += fmt::format("{}{}::text = ${}::text", cast->empty() ? "" : " AND ", *quoted, number);
        }
        // An index serves the comparison above; this one does not depend on the collation of the column.
        if (is_same_text && family == Family::text)
          written += fmt::format(" AND {}::text COLLATE \"C\" = ${}::text", *quoted, number);
        break;
      case Comparison::equal_without_case:
        written = fmt::format("lower({}::text) = lower(${}::text)", *quoted, number);
        break;
      case Comparison::begins_with:
        // ILIKE rejects the collation of a column that ignores case.
        written = fmt::format("{}::text COLLATE \"default\" ILIKE ${}::text", *quoted, number);
        text = prefix_pattern(text);
        break;
    }
    if (!statement.conditions.empty()) statement.conditions += " OR ";
    statement.conditions += written;
    statement.parameters.push_back(std::move(text));
    return {};
  }

  Result<std::string> prepared(const std::string& sql) {
    if (const auto found = statements_.find(sql); found != statements_.end()) return found->second;
    if (statements_.size() >= kMaxStatements) {
      if (auto dropped = connection_.ask("DEALLOCATE ALL", {}, *patience_); !dropped)
        return std::unexpected(std::move(dropped.error()));
      statements_.clear();
    }
    std::string name = fmt::format("s{}", ++last_statement_);
    if (auto made = connection_.prepare(name, sql, *patience_); !made) return std::unexpected(std::move(made.error()));
    return statements_.emplace(sql, std::move(name)).first->second;
  }

  static Value take(const PostgresResult& answer, int row, int column, Family family) {
    if (family == Family::bytes) {
      if (answer.is_null(row, column + 1)) return std::monostate{};
      return Bytes{parse<std::size_t>(answer.text(row, column + 1)).value_or(0)};
    }
    if (answer.is_null(row, column)) return std::monostate{};
    const std::string_view text = answer.text(row, column);
    if (family == Family::integer) {
      if (const auto number = parse<std::int64_t>(text)) return *number;
    } else if (family == Family::real) {
      if (const auto number = parse<double>(text)) return *number;
    } else if (family == Family::flag) {
      return text == "true";
    }
    const std::size_t whole =
        answer.is_null(row, column + 1) ? 0 : parse<std::size_t>(answer.text(row, column + 1)).value_or(0);
    return take_text(text, limits::kCellBytes, whole);
  }

  PostgresConnection connection_;
  const std::string schema_;
  const Patience* patience_ = nullptr;
  std::map<std::string, Types, std::less<>> types_;
  std::map<std::string, std::string, std::less<>> statements_;
  std::size_t last_statement_ = 0;
};

}  // namespace

Result<std::unique_ptr<Source>> open_postgres(const Secret& url, const std::string& schema, const Patience& patience) {
  auto connection = PostgresConnection::open(url, patience);
  if (!connection) return std::unexpected(std::move(connection.error()));
  return std::make_unique<PostgresSource>(std::move(*connection), schema);
}

}  // namespace proteus::datasets
