#include "providers/legacy_side.hpp"

namespace proteus::providers {

namespace {

bool may_pass(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::unreachable:
    case ErrorKind::timeout:
    case ErrorKind::interrupted:
    case ErrorKind::unavailable:
    case ErrorKind::cancelled: return true;
    default: return false;
  }
}

}  // namespace

Task<Result<std::shared_ptr<const LegacySide>>> look_at_legacy_side(client::Connection& connection) {
  const auto opened = co_await connection.open();
  if (!opened && may_pass(opened.error())) co_return std::unexpected(opened.error());
  if (!opened || !(*opened)->keeps_session) co_return nullptr;
  auto side = std::make_shared<LegacySide>();
  side->facts = *opened;
  for (const catalog::Kind kind : catalog::kKinds) {
    auto listing = co_await connection.list(catalog::info(kind).list_method);
    if (!listing && may_pass(listing.error())) co_return std::unexpected(std::move(listing.error()));
    if (!listing) co_return nullptr;
    for (auto& entry : listing->entries)
      side->names[kind].insert(std::move(entry.name));
  }
  co_return side;
}

}  // namespace proteus::providers
