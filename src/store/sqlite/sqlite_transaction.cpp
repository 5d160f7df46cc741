#include "store/sqlite/sqlite_transaction.hpp"

#include "store/sqlite/sqlite_statement.hpp"

namespace proteus::store {

SqliteTransaction::~SqliteTransaction() {
  if (connection_.in_transaction()) static_cast<void>(connection_.end_writing(sql::Ending::roll_back));
}

Result<> SqliteTransaction::begin() { return connection_.begin_writing(); }
Result<> SqliteTransaction::commit() { return connection_.end_writing(sql::Ending::commit); }

// After an error that rolled back the whole transaction there is no savepoint left.
SqliteSavepoint::~SqliteSavepoint() {
  if (!open_ || !connection_.in_transaction()) return;
  static_cast<void>(connection_.query("ROLLBACK TO part").run());
  static_cast<void>(connection_.query("RELEASE part").run());
}

Result<> SqliteSavepoint::begin() {
  auto begun = connection_.query("SAVEPOINT part").run();
  open_ = begun.has_value();
  return begun;
}

Result<> SqliteSavepoint::release() {
  auto released = connection_.query("RELEASE part").run();
  if (released) open_ = false;
  return released;
}

}  // namespace proteus::store
