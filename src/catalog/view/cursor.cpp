#include "catalog/view/cursor.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/text/base64.hpp"
#include "mcp/errors.hpp"

namespace proteus::catalog {
namespace {

// A nonce, a tag, some numbers and a name, in Base64.
constexpr std::size_t kMaxText = (Cursors::kMaxProviderCursor + kLongestUri + 256) * 4 / 3 + 4;

std::string binding(Kind kind, std::string_view fingerprint) {
  return fmt::format("cursor {} {}", info(kind).plural, fingerprint);
}

// Reads numbers and texts. Each text follows its length.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  std::optional<std::uint64_t> number() {
    std::uint64_t value = 0;
    const char* const begin = rest_.data();
    const char* const end = begin + rest_.size();
    const auto [stop, status] = std::from_chars(begin, end, value);
    if (status != std::errc{} || stop == end || *stop != ' ') return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(stop + 1 - begin));
    return value;
  }
  std::optional<std::string> text() {
    const auto size = number();
    if (!size || *size > rest_.size()) return std::nullopt;
    std::string out(rest_.substr(0, *size));
    rest_.remove_prefix(*size);
    return out;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<Cursor> read(std::string_view plain) {
  Fields fields(plain);
  const auto layout = fields.number();
  const auto version = fields.number();
  const auto place = fields.number();
  auto name = fields.text();
  const auto live = fields.number();
  auto provider_cursor = fields.text();
  if (!layout || !version || !place || !name || !live || !provider_cursor || !fields.done()) return std::nullopt;
  return Cursor{*layout,
                *version,
                {static_cast<std::uint32_t>(*place), std::move(*name)},
                std::move(*provider_cursor),
                *live != 0};
}

// Returns the layout that positions at this place depend on.
std::uint64_t layout_at(const CatalogState& state, std::uint32_t place) {
  return place < View::kMaxFront ? state.ranks().front_layout() : state.ranks().layout_at(place - View::kMaxFront);
}

}  // namespace

Result<std::string> Cursors::seal(const Cursor& cursor, Kind kind, std::string_view fingerprint) const {
  if (cursor.provider_cursor.size() > kMaxProviderCursor) {
    return std::unexpected(errors::too_large("the length of an upstream's cursor", kMaxProviderCursor));
  }
  const std::string plain = fmt::format("{} {} {} {} {}{} {} {}", cursor.layout, cursor.version, cursor.position.place,
                                        cursor.position.name.size(), cursor.position.name, cursor.live ? 1 : 0,
                                        cursor.provider_cursor.size(), cursor.provider_cursor);
  return base64_encode(key_.seal(plain, binding(kind, fingerprint)), Base64::url);
}

Result<Cursor> Cursors::open(std::string_view text, Kind kind, std::string_view fingerprint) const {
  const auto sealed = text.size() > kMaxText ? std::nullopt : base64_decode(text, Base64::url);
  const auto plain = sealed ? key_.open(*sealed, binding(kind, fingerprint)) : std::nullopt;
  auto cursor = plain ? read(*plain) : std::nullopt;
  if (!cursor) {
    return std::unexpected(mcp::errors::invalid_params(fmt::format(
        "the cursor is not one of this list: it was changed, is of another list or caller, or of the time before a "
        "restart. List the {} again without a cursor.",
        info(kind).member)));
  }
  return std::move(*cursor);
}

Cursor cursor_at(const CatalogState& state, Position position) {
  const std::uint64_t layout = layout_at(state, position.place);
  return {layout, state.version(), std::move(position), {}, false};
}

Result<Position> resume(const CatalogState& state, const Cursor& cursor) {
  if (cursor.layout != layout_at(state, cursor.position.place)) {
    return std::unexpected(mcp::errors::invalid_params(fmt::format(
        "the list this cursor is of, version {}, is gone: its order has changed since. Begin again without a cursor.",
        cursor.version)));
  }
  return cursor.position;
}

}  // namespace proteus::catalog
