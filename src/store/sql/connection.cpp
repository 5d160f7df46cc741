#include "store/sql/connection.hpp"

namespace proteus::store::sql {

Result<> Query::run() {
  for (;;) {
    const auto row = step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return {};
  }
}

}  // namespace proteus::store::sql
