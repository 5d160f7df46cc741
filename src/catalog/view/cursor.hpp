#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/sealing.hpp"
#include "catalog/definitions/kind.hpp"
#include "catalog/view/state.hpp"
#include "catalog/view/view.hpp"

namespace proteus::catalog {

// Where a list goes on.
struct Cursor {
  std::uint64_t layout = 0;   // of the ranks that the position counts by
  std::uint64_t version = 0;  // of the catalog, when it was handed out
  Position position;
  // Of a provider that is listed live: its own cursor, as it gave it, for the place of the position.
  std::string provider_cursor;
  bool live = false;  // whether there is one; an empty cursor is one, too

  friend bool operator==(const Cursor&, const Cursor&) = default;
};

// Cursors as clients get them: encrypted and authenticated, because they hold names, and bound to the kind of list and
// to the fingerprint of the view. Thread-safe.
class Cursors {
 public:
  explicit Cursors(SealingKey key) : key_(key) {}

  // What a client may be made to carry.
  static constexpr std::size_t kMaxProviderCursor = std::size_t{16} * 1024;

  // Fails where the provider's own cursor is too long.
  Result<std::string> seal(const Cursor& cursor, Kind kind, std::string_view fingerprint) const;
  // Fails, as the protocol has it for a bad cursor, where it is not ours, of another list, or of another view.
  Result<Cursor> open(std::string_view text, Kind kind, std::string_view fingerprint) const;

 private:
  SealingKey key_;
};

// The cursor of what comes behind a page.
Cursor cursor_at(const CatalogState& state, Position position);

// Whether a list can go on there. A cursor outlives changes of the catalog, because "above this name" still means the
// same: what was there all along is listed once. It ends with the order of providers that it counts by, or with the
// process; then the error says to begin again.
Result<Position> resume(const CatalogState& state, const Cursor& cursor);

}  // namespace proteus::catalog
