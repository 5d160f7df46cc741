#include "store/store.hpp"

namespace proteus::store {
namespace {

Task<Result<>> write_one(Store& store, Write write) {
  Writes writes;
  writes.push_back(std::move(write));
  auto written = co_await store.write(std::move(writes));
  if (!written) co_return std::unexpected(std::move(written.error()));
  co_return Result<>();
}

}  // namespace

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::full: return "full";
    case Fault::busy: return "busy";
    case Fault::corrupt: return "corrupt";
    case Fault::read_only: return "read only";
    case Fault::unavailable: return "unavailable";
  }
  return "unknown";
}

Task<Result<>> Store::put(UpstreamRecord record) { return write_one(*this, PutUpstream{std::move(record)}); }
Task<Result<>> Store::put(SnapshotRecord record) { return write_one(*this, PutSnapshot{std::move(record)}); }
Task<Result<>> Store::put(Setting setting) { return write_one(*this, PutSetting{std::move(setting)}); }
Task<Result<>> Store::remove_upstream(std::string name) { return write_one(*this, RemoveUpstream{std::move(name)}); }
Task<Result<>> Store::append(AuditRecord record) { return write_one(*this, AppendAudit{std::move(record)}); }

Task<Result<std::uint64_t>> Store::append(ChangeRecord record) {
  Writes writes;
  writes.emplace_back(AppendChange{std::move(record)});
  auto written = co_await write(std::move(writes));
  if (!written) co_return std::unexpected(std::move(written.error()));
  co_return written->changes.front();
}

}  // namespace proteus::store
