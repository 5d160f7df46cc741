#pragma once

#include <proteus/error.hpp>

#include "store/sqlite/sqlite_connection.hpp"

namespace proteus::store {

// A transaction that its destructor rolls back unless it was committed. Takes the write lock at its beginning, so that
// it cannot conflict with another writer half-way.
class SqliteTransaction {
 public:
  explicit SqliteTransaction(SqliteConnection& connection) : connection_(connection) {}
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  Result<> begin();
  // Its changes are on disk when this returns.
  Result<> commit();

 private:
  SqliteConnection& connection_;
};

// A part of a transaction that can be undone alone. Its destructor rolls it back unless it was released.
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
