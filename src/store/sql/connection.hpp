#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <proteus/error.hpp>

#include "store/store.hpp"

// What the records need of a database: statements that both SQLite and PostgreSQL understand, with `?` for parameters.
namespace proteus::store::sql {

// Bytes that are no text; null where they are empty.
struct Blob {
  std::string_view bytes;
};

// One use of a prepared statement, as a database implements it.
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

// The same for whoever asks. What is bound must live as long as this. A fault of the preparation or of a binding shows
// at the first step.
class Query {
 public:
  explicit Query(std::unique_ptr<Statement> statement) : statement_(std::move(statement)) {}

  // The parameters, in their order.
  template <class... Values>
  Query& bind(const Values&... values) {
    (statement_->bind(values), ...);
    return *this;
  }

  // Whether there is another row.
  Result<bool> step() { return statement_->step(); }
  // For statements that have no rows of interest.
  Result<> run();

  std::int64_t integer(int column) const { return statement_->integer(column); }
  std::uint64_t number(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  std::string text(int column) const { return std::string(view(column)); }
  // Until the next step.
  std::string_view view(int column) const { return statement_->view(column); }
  bool is_null(int column) const { return statement_->is_null(column); }

 private:
  std::unique_ptr<Statement> statement_;
};

enum class Ending : std::uint8_t { commit, roll_back };

// A connection to a database. One thread at a time.
class Connection {
 public:
  virtual ~Connection() = default;

  // A statement, prepared once per connection. The same text must not be in use already.
  virtual Query query(std::string_view sql) = 0;
  // Statements without parameters and rows.
  virtual Result<> execute(const std::string& sql) = 0;
  // Until `end_reading`, reads show the database at one moment.
  virtual Result<> begin_reading() = 0;
  virtual Result<> end_reading() = 0;
  // From here to `end_writing` nobody else writes.
  virtual Result<> begin_writing() = 0;
  virtual Result<> end_writing(Ending ending) = 0;
  // By the clock that all who share the database go by, in microseconds.
  virtual Result<std::int64_t> now() = 0;

  // What an operator knows the database by; never a secret.
  const std::string& name() const { return name_; }
  // The last trouble since this was asked for.
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
