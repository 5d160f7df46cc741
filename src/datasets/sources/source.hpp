#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "datasets/mapping/value.hpp"

// The port to a database that is only ever read. It accepts no SQL: requests are values, and each source writes its own
// statements, with identifiers quoted by the database's library and values bound.
namespace proteus::datasets {

enum class Comparison : std::uint8_t {
  equal,     // as the database compares, and in the same writing; some columns ignore case
  same_key,  // as the database compares for a foreign key, however the value is written
  same_text,
  equal_without_case,
  begins_with,  // ignoring case
};

struct Condition {
  std::string_view column = {};
  Comparison comparison = Comparison::equal;
  Value value = {};
};

// A request for rows of one table, ordered by a column in the same way in every source: numbers and times by value,
// everything else by the bytes of its text, nulls last. So a limit keeps the same rows. The caller owns the names and
// keeps them while it reads.
struct Select {
  std::string_view table = {};
  std::span<const std::string> columns = {};
  std::vector<Condition> any_of = {};  // a row fits if one of them holds; there is at least one
  std::string_view order_by = {};      // empty: unordered
  std::size_t limit = 1;
  bool distinct = false;  // each value once; only for one column in its own order
};

using Row = std::span<Value>;  // one value for each column of the select; refers into a Rows

// The values of rows, one row after the other. Moving it leaves its rows valid.
class Rows {
 public:
  explicit Rows(std::size_t columns = 1, std::size_t expected = 0) : columns_(columns) {
    values_.reserve(columns * expected);
  }

  std::size_t size() const { return values_.size() / columns_; }
  bool empty() const { return values_.empty(); }
  Row operator[](std::size_t row) { return Row(values_).subspan(row * columns_, columns_); }

  // Adds the next value of the incomplete row, or the first of a new row.
  template <class T>
  void add(T&& value) {
    values_.emplace_back(std::forward<T>(value));
  }

 private:
  std::size_t columns_;
  std::vector<Value> values_;
};

// The structure of a source.
struct ColumnFacts {
  std::string name = {};
  std::string type = {};  // as the source calls it
  bool nullable = true;
  std::string comment = {};
};

struct TableFacts {
  std::string name = {};
  bool is_view = false;
  std::string comment = {};
  std::vector<ColumnFacts> columns = {};
  std::vector<std::string> primary_key = {};
  std::vector<std::vector<std::string>> unique = {};  // other keys

  const ColumnFacts* column(std::string_view name) const;
  // Returns whether each value of the column is in at most one row.
  bool is_key(std::string_view column) const;
};

struct ForeignKey {
  std::string from_table;
  std::vector<std::string> from_columns;
  std::string to_table;
  std::vector<std::string> to_columns;
};

struct Introspection {
  std::vector<TableFacts> tables;  // by name
  std::vector<ForeignKey> foreign_keys;
  bool truncated = false;  // there are more tables or columns than were read

  const TableFacts* table(std::string_view name) const;
};

// How long a caller waits. The source checks it while it works.
struct Patience {
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::shared_ptr<const std::atomic<bool>> given_up = nullptr;  // null: never before `until`

  bool is_over() const;
  // Returns why the patience is over: `cancelled` or `timeout`.
  Error error() const;
};

namespace limits {
inline constexpr std::size_t kCellBytes = 4096;  // of one value; the rest is cut off
inline constexpr std::size_t kTables = 2000;
inline constexpr std::size_t kTableColumns = 1000;
}  // namespace limits

// Returns the shortest form of a number without an exponent, which is the same for 7, 007 and 7.00. Returns nothing for
// other texts.
std::optional<std::string> shortest_decimal(std::string_view text);

// Returns the LIKE pattern for texts that begin with `text`. Its escape character is a backslash.
std::string prefix_pattern(std::string_view text);

// One connection to a source. Its functions block; for one thread at a time.
class Source {
 public:
  virtual ~Source() = default;

  // Begins a transaction that changes nothing and sees one state of the source. `patience` must live until `end`.
  virtual Result<> begin(const Patience& patience) = 0;
  virtual Result<Rows> read(const Select& select) = 0;
  // Ends the transaction. To be called after a failure, too.
  virtual void end() = 0;

  virtual Result<Introspection> introspect(const Patience& patience) = 0;

  // Returns false after a fault that a new connection may fix.
  virtual bool is_usable() const = 0;
};

// Opens the source that a DSN names: `sqlite:///absolute/path`, `postgres://…` or `postgresql://…`. Only PostgreSQL
// uses `schema`. Errors never contain the DSN or a part of it.
Result<std::unique_ptr<Source>> open_source(const Secret& dsn, const std::string& schema, const Patience& patience);
// Checks that the DSN has one of these forms, without opening anything.
Result<> check_dsn(const Secret& dsn);

}  // namespace proteus::datasets
