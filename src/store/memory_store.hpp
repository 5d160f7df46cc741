#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "store/store.hpp"

namespace proteus::store {

// A store that keeps everything in memory, and loses it when destroyed. For tests, and for a gateway that must leave
// nothing behind.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(Retention retention = {}) : retention_(retention) {}

  Task<Result<Written>> write(Writes writes) override;
  Task<Result<std::vector<UpstreamRecord>>> upstreams() override;
  Task<Result<std::optional<UpstreamRecord>>> upstream(std::string name) override;
  Task<Result<std::vector<SnapshotRecord>>> snapshots() override;
  Task<Result<std::vector<SnapshotRecord>>> snapshots_of(std::string upstream) override;
  Task<Result<ChangePage>> changes(std::uint64_t since, std::size_t limit) override;
  Task<Result<std::vector<AuditRecord>>> audits(std::size_t limit, std::optional<std::uint64_t> before) override;
  Task<Result<std::optional<std::string>>> setting(std::string key) override;
  Task<Result<std::vector<Setting>>> settings(std::string prefix) override;
  Task<Result<std::vector<PinRecord>>> pins_of(std::string upstream) override;
  Task<Result<std::vector<ToolSessionRecord>>> tool_sessions() override;
  Task<Result<std::optional<ToolSessionRecord>>> tool_session(std::string id) override;
  Task<Result<std::vector<SessionToolRecord>>> session_tools() override;
  Task<Result<std::vector<SessionToolRecord>>> session_tools_of(std::string session) override;
  Task<Result<std::vector<TokenRecord>>> tokens() override;
  Task<Result<std::optional<TokenRecord>>> token(std::string name) override;
  Task<Result<std::vector<SealedRecord>>> sealed(std::string kind) override;
  Task<Result<std::optional<SealedRecord>>> sealed_record(std::string kind, std::string id) override;
  Task<Result<std::vector<MemberRecord>>> members() override;
  Task<Result<std::vector<LeaseRecord>>> leases() override;
  Task<Result<FeedPage>> feed(std::uint64_t since, std::size_t limit) override;
  void on_feed(std::function<void()> grew) override;
  // Does nothing: a MemoryStore seals nothing.
  Task<Result<std::size_t>> reseal() override;
  Health health() const override { return {}; }

 private:
  struct Apply;
  struct Member {
    MemberRecord record;
    std::chrono::steady_clock::time_point seen_at;
  };

  Result<> check_conditions(const Writes& writes) const;
  Result<> check_hashes(const std::string& owner, const std::vector<std::string>& hashes) const;
  Result<> check_fence(const std::optional<Fence>& fence) const;
  std::uint64_t version_of(const RecordKey& key) const;
  void put_hashes(const std::string& owner, const std::vector<std::string>& hashes);
  void append_to_feed(RecordKey key);

  const Retention retention_;
  std::mutex mutex_;
  std::vector<UpstreamRecord> upstreams_;
  std::map<std::pair<std::string, std::string>, SnapshotRecord> snapshots_;  // by upstream and kind
  std::deque<ChangeRecord> changes_;
  std::deque<AuditRecord> audits_;
  std::map<std::string, Setting> settings_;                                                   // by key
  std::map<std::tuple<std::string, std::string, std::string, std::string>, PinRecord> pins_;  // by identifying members
  std::map<std::string, ToolSessionRecord> tool_sessions_;                                    // by id
  std::map<std::pair<std::string, std::string>, SessionToolRecord> session_tools_;            // by session and name
  std::map<std::string, TokenRecord> tokens_;                                                 // by name
  std::map<std::pair<std::string, std::string>, SealedRecord> sealed_;                        // by kind and id
  std::map<std::string, std::string> hash_owners_;                // the owner of each token hash
  std::map<std::string, std::vector<std::string>> owned_hashes_;  // the same, by owner
  std::map<std::string, Member> members_;                         // by name
  std::map<std::string, LeaseRecord> leases_;                     // by name
  std::deque<FeedEntry> feed_;
  std::uint64_t newest_version_ = 1;  // no record has a smaller one
  std::uint64_t newest_lease_ = 0;
  std::mutex feed_mutex_;
  std::function<void()> feed_grew_;
  std::uint64_t newest_change_ = 0;
  std::uint64_t newest_audit_ = 0;
};

}  // namespace proteus::store
