#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "store/store.hpp"

namespace proteus::store {

// Keeps everything for as long as it lives. For tests, and for a gateway that shall leave nothing behind.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(Retention retention = {}) : retention_(retention) {}

  Task<Result<Written>> write(Writes writes) override;
  Task<Result<std::vector<UpstreamRecord>>> upstreams() override;
  Task<Result<std::vector<SnapshotRecord>>> snapshots() override;
  Task<Result<std::vector<SnapshotRecord>>> snapshots_of(std::string upstream) override;
  Task<Result<ChangePage>> changes(std::uint64_t since, std::size_t limit) override;
  Task<Result<std::vector<AuditRecord>>> audits(std::size_t limit, std::optional<std::uint64_t> before) override;
  Task<Result<std::optional<std::string>>> setting(std::string key) override;
  Task<Result<std::vector<PinRecord>>> pins_of(std::string upstream) override;
  Task<Result<std::vector<ToolSessionRecord>>> tool_sessions() override;
  Task<Result<std::vector<SessionToolRecord>>> session_tools() override;
  Task<Result<std::vector<TokenRecord>>> tokens() override;
  Task<Result<std::vector<SealedRecord>>> sealed(std::string kind) override;
  // Nothing is sealed here.
  Task<Result<std::size_t>> reseal() override;
  Health health() const override { return {}; }

 private:
  struct Apply;

  const Retention retention_;
  std::mutex mutex_;
  std::vector<UpstreamRecord> upstreams_;
  std::map<std::pair<std::string, std::string>, SnapshotRecord> snapshots_;  // by upstream and kind
  std::deque<ChangeRecord> changes_;
  std::deque<AuditRecord> audits_;
  std::map<std::string, std::string> settings_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, PinRecord> pins_;  // by what identifies them
  std::map<std::string, ToolSessionRecord> tool_sessions_;                                    // by id
  std::map<std::pair<std::string, std::string>, SessionToolRecord> session_tools_;            // by session and name
  std::map<std::string, TokenRecord> tokens_;                                                 // by name
  std::map<std::pair<std::string, std::string>, SealedRecord> sealed_;                        // by kind and id
  std::uint64_t newest_change_ = 0;
  std::uint64_t newest_audit_ = 0;
};

}  // namespace proteus::store
