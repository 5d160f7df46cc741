#pragma once

#include <atomic>

#include "store/memory_store.hpp"

namespace proteus::store::test {

// For tests: a store whose disk is full while `full` is set.
class FullStore : public Store {
 public:
  Task<Result<Written>> write(Writes writes) override {
    if (full) co_return std::unexpected(errors::exhausted("the disk is full"));
    co_return co_await kept.write(std::move(writes));
  }
  Task<Result<std::vector<UpstreamRecord>>> upstreams() override { return kept.upstreams(); }
  Task<Result<std::optional<UpstreamRecord>>> upstream(std::string name) override {
    return kept.upstream(std::move(name));
  }
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
  Task<Result<std::optional<SealedRecord>>> sealed_record(std::string kind, std::string id) override {
    return kept.sealed_record(std::move(kind), std::move(id));
  }
  Task<Result<std::vector<Setting>>> settings(std::string prefix) override { return kept.settings(std::move(prefix)); }
  Task<Result<std::optional<ToolSessionRecord>>> tool_session(std::string id) override {
    return kept.tool_session(std::move(id));
  }
  Task<Result<std::vector<SessionToolRecord>>> session_tools_of(std::string session) override {
    return kept.session_tools_of(std::move(session));
  }
  Task<Result<std::optional<TokenRecord>>> token(std::string name) override { return kept.token(std::move(name)); }
  Task<Result<std::vector<MemberRecord>>> members() override { return kept.members(); }
  Task<Result<std::vector<LeaseRecord>>> leases() override { return kept.leases(); }
  Task<Result<FeedPage>> feed(std::uint64_t since, std::size_t limit) override { return kept.feed(since, limit); }
  void on_feed(std::function<void()> grew) override { kept.on_feed(std::move(grew)); }
  Task<Result<std::size_t>> reseal() override { return kept.reseal(); }
  Health health() const override { return {}; }

  MemoryStore kept;
  std::atomic<bool> full = false;
};

}  // namespace proteus::store::test
