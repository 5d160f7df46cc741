#include "store/sql/fenced.hpp"

#include "store/errors.hpp"

namespace proteus::store::sql {

std::string_view fence_condition(const std::optional<Fence>& fence) {
  return fence ? "EXISTS (SELECT 1 FROM leases WHERE leases.name = ? AND leases.token = ?)" : "true";
}

Result<> run_fenced(Query& query, const std::optional<Fence>& fence) {
  if (fence) query.bind(fence->lease, static_cast<std::int64_t>(fence->token));
  const auto inserted = query.step();
  if (!inserted) return std::unexpected(inserted.error());
  if (!*inserted) return std::unexpected(errors::lease_lost(fence.value_or(Fence{})));
  return {};
}

}  // namespace proteus::store::sql
