#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/postgres_connection.hpp"
#include "store/sql/connection.hpp"

namespace proteus::store {

// A statement of a PostgresConnection. Texts and blobs are `bytea`, because PostgreSQL's `text` neither accepts every
// byte nor sorts by bytes. Numbers are `bigint`.
class PostgresStatement final : public sql::Statement {
 public:
  PostgresStatement(PostgresConnection& connection, std::string sql) : connection_(connection), sql_(std::move(sql)) {}

  void bind(std::int64_t value) override;
  void bind(std::string_view text) override;
  void bind(sql::Blob blob) override;
  Result<bool> step() override;
  std::int64_t integer(int column) const override;
  std::string_view view(int column) const override;
  bool is_null(int column) const override;

 private:
  struct Value {
    std::string_view bytes;
    std::array<char, 8> number{};
    enum class Kind : std::uint8_t { number, bytes, null } kind = Kind::null;
  };

  PostgresConnection& connection_;
  const std::string sql_;
  std::vector<Value> values_;
  PostgresResult result_;
  int row_ = -1;
};

}  // namespace proteus::store
