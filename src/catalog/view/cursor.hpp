#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "base/secrets/sealing.hpp"
#include "catalog/definitions/kind.hpp"
#include "catalog/view/state.hpp"
#include "catalog/view/view.hpp"

namespace proteus::catalog {

// Where a list continues.
struct Cursor {
  std::uint64_t layout = 0;   // of the ranks on which the position depends
  std::uint64_t version = 0;  // of the catalog when the cursor was made
  Position position;
  // For a provider that is listed live: its own cursor, unchanged, for the place of `position`.
  std::string provider_cursor;
  bool live = false;  // whether there is a provider cursor, which may be empty

  friend bool operator==(const Cursor&, const Cursor&) = default;
};

// Seals cursors for clients: encrypts and authenticates them, because they contain names, and binds them to the kind of
// list and to the fingerprint of the view. Thread-safe.
class Cursors {
 public:
  explicit Cursors(SealingKey key) : key_(key) {}

  // Limit for a provider's cursor, because clients have to carry it.
  static constexpr std::size_t kMaxProviderCursor = std::size_t{16} * 1024;

  // Fails if the provider's own cursor is too long.
  Result<std::string> seal(const Cursor& cursor, Kind kind, std::string_view fingerprint) const;
  // Fails with the protocol's error for a bad cursor if the text is not one of ours, or belongs to another list or
  // view.
  Result<Cursor> open(std::string_view text, Kind kind, std::string_view fingerprint) const;

 private:
  SealingKey key_;
};

// Returns the cursor for what follows a page.
Cursor cursor_at(const CatalogState& state, Position position);

// Returns the position at which a list continues. A cursor survives changes of the catalog, because "above this name"
// keeps its meaning: an entry that was there all along is listed once. It expires when the layout that it depends on
// changes, and, unless the layout is shared, when the process ends. Then the error asks the client to begin again.
Result<Position> resume(const CatalogState& state, const Cursor& cursor);

}  // namespace proteus::catalog
