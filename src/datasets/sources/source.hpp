#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <proteus/error.hpp>

#include "base/secret.hpp"
#include "datasets/mapping/value.hpp"

// The port to a database that is only ever read. There is no way to hand it SQL: requests are values, and each source
// writes its own statements, with identifiers quoted by the database's library and values bound.
namespace proteus::datasets {

enum class Comparison : std::uint8_t {
  equal,  // as the database compares: some columns ignore case
  same_text,
  equal_without_case,
  begins_with,  // without case
};

struct Condition {
  std::string_view column = {};
  Comparison comparison = Comparison::equal;
  Value value = {};
};

// Rows of one table, in the order of a column, which is the same in every source: numbers and times by value, all else
// by the bytes of its text, nulls last. So a limit keeps the same rows. Names are the caller's, who keeps them while it
// reads.
struct Select {
  std::string_view table = {};
  std::span<const std::string> columns = {};
  std::vector<Condition> any_of = {};  // a row fits where one of them holds; there is at least one
  std::string_view order_by = {};      // empty: no order
  std::size_t limit = 1;
};

using Row = std::span<Value>;  // by the columns of the select; a part of its `Rows`

// Their values, one row after the other. Rows stay where they are when it is moved.
class Rows {
 public:
  explicit Rows(std::size_t columns = 1, std::size_t expected = 0) : columns_(columns) {
    values_.reserve(columns * expected);
  }

  std::size_t size() const { return values_.size() / columns_; }
  bool empty() const { return values_.empty(); }
  Row operator[](std::size_t row) { return Row(values_).subspan(row * columns_, columns_); }

  // The next value of the row that is not whole, or the first of another.
  template <class T>
  void add(T&& value) {
    values_.emplace_back(std::forward<T>(value));
  }

 private:
  std::size_t columns_;
  std::vector<Value> values_;
};

// What a source has.
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
  // Whether a value of the column is in one row at most.
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
  bool truncated = false;  // there were more tables or columns than are looked at

  const TableFacts* table(std::string_view name) const;
};

// When whoever waits gives up. Looked at while the source works.
struct Patience {
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::shared_ptr<const std::atomic<bool>> given_up = nullptr;  // null: never before that

  bool is_over() const;
  // What ended it.
  Error error() const;
};

namespace limits {
inline constexpr std::size_t kCellBytes = 4096;  // of one value; the rest is cut off
inline constexpr std::size_t kTables = 2000;
inline constexpr std::size_t kTableColumns = 1000;
}  // namespace limits

// The LIKE pattern of texts that begin with this one; its escape is a backslash.
std::string prefix_pattern(std::string_view text);

// One connection. Blocks; used by one thread at a time.
class Source {
 public:
  virtual ~Source() = default;

  // What follows is read in one transaction that changes nothing, and sees one state of the source.
  virtual Result<> begin(const Patience& patience) = 0;
  virtual Result<Rows> read(const Select& select) = 0;
  // Also after a failure.
  virtual void end() = 0;

  virtual Result<Introspection> introspect(const Patience& patience) = 0;

  // False after a fault that a new connection may mend.
  virtual bool is_usable() const = 0;
};

// Opens what a DSN names: `sqlite:///absolute/path`, `postgres://…` or `postgresql://…`. `schema` is that of
// PostgreSQL. Errors never hold the DSN, or a part of it.
Result<std::unique_ptr<Source>> open_source(const Secret& dsn, const std::string& schema, const Patience& patience);
// Whether it is one of these, without opening anything.
Result<> check_dsn(const Secret& dsn);

}  // namespace proteus::datasets
