#include "store/postgres/postgres_statement.hpp"

namespace proteus::store {
namespace {

// From pg_type.dat; these never change.
constexpr Oid kBytea = 17;
constexpr Oid kInt8 = 20;

}  // namespace

void PostgresStatement::bind(std::int64_t value) {
  Value& added = values_.emplace_back();
  added.kind = Value::Kind::number;
  auto bits = static_cast<std::uint64_t>(value);
  for (std::size_t i = added.number.size(); i-- > 0; bits >>= 8U)
    added.number.at(i) = static_cast<char>(bits & 0xffU);
}

void PostgresStatement::bind(std::string_view text) {
  values_.push_back({.bytes = text, .number = {}, .kind = Value::Kind::bytes});
}

void PostgresStatement::bind(sql::Blob blob) {
  values_.push_back({.bytes = blob.bytes, .kind = blob.bytes.empty() ? Value::Kind::null : Value::Kind::bytes});
}

Result<bool> PostgresStatement::step() {
  if (!result_) {
    std::vector<PostgresParameter> parameters;
    for (const Value& value : values_) {
      switch (value.kind) {
        case Value::Kind::number: parameters.push_back({value.number.data(), 8, kInt8}); break;
        case Value::Kind::null: parameters.push_back({nullptr, 0, kBytea}); break;
        case Value::Kind::bytes:
          // libpq takes a null pointer for NULL.
          parameters.push_back(
              {value.bytes.data() == nullptr ? "" : value.bytes.data(), static_cast<int>(value.bytes.size()), kBytea});
          break;
      }
    }
    auto ran = connection_.run(sql_, parameters);
    if (!ran) return std::unexpected(std::move(ran.error()));
    result_ = std::move(*ran);
  }
  return ++row_ < PQntuples(result_.get());
}

std::int64_t PostgresStatement::integer(int column) const {
  std::uint64_t bits = 0;
  const std::string_view bytes = view(column);
  if (!bytes.empty() && (static_cast<unsigned char>(bytes.front()) & 0x80U) != 0) bits = ~std::uint64_t{0};
  for (const char byte : bytes)
    bits = (bits << 8U) | static_cast<unsigned char>(byte);
  return static_cast<std::int64_t>(bits);
}

std::string_view PostgresStatement::view(int column) const {
  return {PQgetvalue(result_.get(), row_, column), static_cast<std::size_t>(PQgetlength(result_.get(), row_, column))};
}

bool PostgresStatement::is_null(int column) const { return PQgetisnull(result_.get(), row_, column) != 0; }

}  // namespace proteus::store
