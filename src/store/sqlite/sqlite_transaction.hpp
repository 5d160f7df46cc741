#pragma once

#include <proteus/error.hpp>

#include "store/sqlite/sqlite_connection.hpp"

namespace proteus::store {

// Rolled back at its end, unless it was committed. Takes the write lock at once, so that it cannot meet another writer
// half way.
class SqliteTransaction {
 public:
  explicit SqliteTransaction(SqliteConnection& connection) : connection_(connection) {}
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  Result<> begin();
  // What it did is on disk when this returns.
  Result<> commit();

 private:
  SqliteConnection& connection_;
};

// A part of a transaction that can be undone alone. Rolled back at its end, unless it was released.
class SqliteSavepoint {
 public:
  explicit SqliteSavepoint(SqliteConnection& connection) : connection_(connection) {}
  ~SqliteSavepoint();
  SqliteSavepoint(const SqliteSavepoint&) = delete;
  SqliteSavepoint& operator=(const SqliteSavepoint&) = delete;

  Result<> begin();
  Result<> release();

 private:
  SqliteConnection& connection_;
  bool open_ = false;
};

}  // namespace proteus::store
