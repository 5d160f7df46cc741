#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "store/sqlite/sqlite_store.hpp"
#include "store/testing/test_support.hpp"

namespace proteus::store::test {

inline Pepper pepper(const std::string& value) { return Pepper::given(value).value(); }

// A SQLite store in its own temporary directory.
class SqliteFixture {
 public:
  explicit SqliteFixture(SqliteOptions options = {}) : options_(std::move(options)) {
    options_.file = directory_.path() / "proteus.db";
  }

  Result<> open(const Sealer& sealer = Sealer(pepper("pepper"))) {
    store_.reset();
    auto opened = SqliteStore::open(options_, sealer);
    if (!opened) return std::unexpected(std::move(opened.error()));
    store_ = std::move(*opened);
    return {};
  }
  void reopen() {
    if (auto opened = open(); !opened) throw std::runtime_error(opened.error().message());
  }
  void close() { store_.reset(); }

  SqliteStore& store() { return *store_; }
  SqliteOptions& options() { return options_; }
  const std::filesystem::path& file() const { return options_.file; }

  // Opens the same database as another program does.
  SqliteConnection other() const {
    return SqliteConnection::open(options_.file, SqliteAccess::read_write, std::chrono::milliseconds(0)).value();
  }

 private:
  TemporaryDirectory directory_;
  SqliteOptions options_;
  std::unique_ptr<SqliteStore> store_;
};

}  // namespace proteus::store::test
