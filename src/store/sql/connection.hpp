#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <proteus/error.hpp>

#include "store/store.hpp"

// What the records need from a database. Statements must be understood by both SQLite and PostgreSQL, and have `?` for
// parameters.
namespace proteus::store::sql {

// Bytes that are not text; stored as NULL if empty.
struct Blob {
  std::string_view bytes;
};

// One use of a prepared statement, as implemented by a database.
class Statement {
 public:
  virtual ~Statement() = default;

  virtual void bind(std::int64_t value) = 0;
  virtual void bind(std::string_view text) = 0;
  virtual void bind(Blob blob) = 0;
  virtual Result<bool> step() = 0;
  virtual std::int64_t integer(int column) const = 0;
  virtual std::string_view view(int column) const = 0;
  virtual bool is_null(int column) const = 0;
};

// One use of a prepared statement, for code that runs it. Bound values must outlive the query. If preparation or
// binding fails, the first `step` returns the error.
class Query {
 public:
  explicit Query(std::unique_ptr<Statement> statement) : statement_(std::move(statement)) {}

  // Binds the parameters, in their order.
  template <class... Values>
  Query& bind(const Values&... values) {
    (statement_->bind(values), ...);
    return *this;
  }

  // Goes to the next row; returns false if there is none.
  Result<bool> step() { return statement_->step(); }
  // Runs a statement and ignores its rows.
  Result<> run();

  std::int64_t integer(int column) const { return statement_->integer(column); }
  std::uint64_t number(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  std::string text(int column) const { return std::string(view(column)); }
  // Valid until the next step.
  std::string_view view(int column) const { return statement_->view(column); }
  bool is_null(int column) const { return statement_->is_null(column); }

 private:
  std::unique_ptr<Statement> statement_;
};

enum class Ending : std::uint8_t { commit, roll_back };

// A connection to a database. For one thread at a time.
class Connection {
 public:
  virtual ~Connection() = default;

  // Returns a use of a statement, which is prepared once per connection. Only one query of the same text may exist at a
  // time.
  virtual Query query(std::string_view sql) = 0;
  // Runs statements without parameters, and ignores their rows.
  virtual Result<> execute(const std::string& sql) = 0;
  // Until `end_reading`, reads see the database at one moment.
  virtual Result<> begin_reading() = 0;
  virtual Result<> end_reading() = 0;
  // No other connection writes until `end_writing`.
  virtual Result<> begin_writing() = 0;
  virtual Result<> end_writing(Ending ending) = 0;
  // Returns the time in microseconds, by the clock that all processes that share the database use.
  virtual Result<std::int64_t> now() = 0;

  // Names the database for operators; contains no secret.
  const std::string& name() const { return name_; }
  // Returns the last trouble since the previous call.
  std::optional<Health::Trouble> take_trouble() { return std::exchange(trouble_, std::nullopt); }

 protected:
  explicit Connection(std::string name) : name_(std::move(name)) {}
  Connection(Connection&&) = default;
  Connection& operator=(Connection&&) = default;

  void note(Fault fault, std::string message) { trouble_ = {fault, std::move(message)}; }

 private:
  std::string name_;
  std::optional<Health::Trouble> trouble_;
};

}  // namespace proteus::store::sql
