#pragma once

#include <atomic>

#include "store/memory_store.hpp"

namespace proteus::store::test {

// For tests: a store whose disk is full when it is told so.
class FullStore final : public Store {
 public:
  Task<Result<Written>> write(Writes writes) override {
    if (full) co_return std::unexpected(errors::exhausted("the disk is full"));
    co_return co_await kept.write(std::move(writes));
  }
  Task<Result<std::vector<UpstreamRecord>>> upstreams() override { return kept.upstreams(); }
  Task<Result<std::vector<SnapshotRecord>>> snapshots() override { return kept.snapshots(); }
  Task<Result<std::vector<SnapshotRecord>>> snapshots_of(std::string upstream) override {
    return kept.snapshots_of(std::move(upstream));
  }
  Task<Result<ChangePage>> changes(std::uint64_t since, std::size_t limit) override {
    return kept.changes(since, limit);
  }
  Task<Result<std::vector<AuditRecord>>> audits(std::size_t limit, std::optional<std::uint64_t> before) override {
    return kept.audits(limit, before);
  }
  Task<Result<std::optional<std::string>>> setting(std::string key) override { return kept.setting(std::move(key)); }
  Task<Result<std::vector<PinRecord>>> pins_of(std::string upstream) override {
    return kept.pins_of(std::move(upstream));
  }
  Task<Result<std::vector<ToolSessionRecord>>> tool_sessions() override { return kept.tool_sessions(); }
  Task<Result<std::vector<SessionToolRecord>>> session_tools() override { return kept.session_tools(); }
  Task<Result<std::vector<TokenRecord>>> tokens() override { return kept.tokens(); }
  Task<Result<std::vector<SealedRecord>>> sealed(std::string kind) override { return kept.sealed(std::move(kind)); }
  Task<Result<std::size_t>> reseal() override { return kept.reseal(); }
  Health health() const override { return {}; }

  MemoryStore kept;
  std::atomic<bool> full = false;
};

}  // namespace proteus::store::test
