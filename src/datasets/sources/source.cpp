#include "datasets/sources/source.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/ascii.hpp"
#include "datasets/sources/postgres_source.hpp"
#include "datasets/sources/sqlite_source.hpp"

namespace proteus::datasets {
namespace {

constexpr std::string_view kSqlite = "sqlite://";
constexpr std::size_t kLongestDsn = 4096;

bool is_postgres(std::string_view dsn) { return dsn.starts_with("postgres://") || dsn.starts_with("postgresql://"); }

Result<std::string> decode_path(std::string_view encoded) {
  std::string path;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i] != '%') {
      path += encoded[i];
      continue;
    }
    const int high = i + 2 < encoded.size() ? hex_value(encoded[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(encoded[i + 2]) : -1;
    if (low < 0 || (high == 0 && low == 0)) return std::unexpected(errors::invalid("its path is not well encoded"));
    path += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return path;
}

}  // namespace

std::optional<std::string> shortest_decimal(std::string_view text) {
  const std::string_view sign = text.substr(0, text.starts_with('-') ? 1 : 0);
  text.remove_prefix(sign.size());
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string_view whole = text.substr(0, point);
  std::string_view fraction = text.substr(std::min(point + 1, text.size()));
  if (whole.empty() || (point < text.size() && fraction.empty()) || !std::ranges::all_of(whole, is_digit) ||
      !std::ranges::all_of(fraction, is_digit))
    return std::nullopt;
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size() - 1));
  fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
  return fmt::format("{}{}{}{}", sign, whole, fraction.empty() ? "" : ".", fraction);
}

std::string prefix_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + '%';
}

const ColumnFacts* TableFacts::column(std::string_view wanted) const {
  const auto found = std::ranges::find(columns, wanted, &ColumnFacts::name);
  return found == columns.end() ? nullptr : &*found;
}

bool TableFacts::is_key(std::string_view wanted) const {
  const auto is_it = [&](const std::vector<std::string>& key) { return key.size() == 1 && key.front() == wanted; };
  return is_it(primary_key) || std::ranges::any_of(unique, is_it);
}

const TableFacts* Introspection::table(std::string_view wanted) const {
  const auto found = std::ranges::find(tables, wanted, &TableFacts::name);
  return found == tables.end() ? nullptr : &*found;
}

bool Patience::is_over() const {
  return (given_up && given_up->load(std::memory_order_relaxed)) || std::chrono::steady_clock::now() >= until;
}

Error Patience::error() const {
  if (given_up && given_up->load(std::memory_order_relaxed)) return errors::cancelled("reading the source");
  return errors::timeout("reading the source");
}

Result<> check_dsn(const Secret& dsn) {
  const std::string_view text = dsn.reveal();
  if (text.size() > kLongestDsn) return std::unexpected(errors::too_large("the address of the source", kLongestDsn));
  if (is_postgres(text)) return {};
  if (text.starts_with(kSqlite) && text.substr(kSqlite.size()).starts_with('/')) return {};
  return std::unexpected(errors::invalid("must be sqlite:///absolute/path/to/file or postgres://…"));
}

Result<std::unique_ptr<Source>> open_source(const Secret& dsn, const std::string& schema, const Patience& patience) {
  if (auto checked = check_dsn(dsn); !checked) return std::unexpected(std::move(checked.error()));
  const std::string_view text = dsn.reveal();
  if (is_postgres(text)) return open_postgres(dsn, schema, patience);
  const auto path = decode_path(text.substr(kSqlite.size()));
  if (!path) return std::unexpected(path.error());
  return open_sqlite(*path);
}

}  // namespace proteus::datasets
