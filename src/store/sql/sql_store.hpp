#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/tasks/batch_thread.hpp"
#include "store/sealer.hpp"
#include "store/sql/connection.hpp"
#include "store/sql/operation.hpp"
#include "store/store.hpp"

namespace proteus::store::sql {

// Implements the port for databases that understand the same statements. Derived classes bring the operations to a
// connection. Secrets are sealed before they reach the database.
class SqlStore : public Store {
 public:
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
  Task<Result<std::size_t>> reseal() override;
  Health health() const override;

 protected:
  SqlStore(Sealer sealer, Retention retention) : sealer_(std::move(sealer)), retention_(retention) {}

  // Hand an operation to a thread with a connection. Thread-safe. If the answer is not `yes`, the operation is dropped,
  // and `done` is not called.
  virtual Posted post_read(Operation operation) = 0;
  virtual Posted post_write(Operation operation, std::size_t bytes) = 0;

  enum class Side : std::uint8_t { writing, reading };
  // Updates the health after each use of a connection; `trouble` is empty if there was none.
  void note(Side side, std::optional<Health::Trouble> trouble);
  void feed_grew();

 private:
  template <class T>
  Task<Result<T>> in_reader(std::function<Result<T>(Connection&)> read);
  template <class T>
  Task<Result<T>> in_writer(Operation operation, std::function<Result<T>(Connection&)> apply, std::size_t bytes);

  const Sealer sealer_;
  const Retention retention_;
  mutable std::mutex mutex_;
  Health health_;
  std::mutex feed_mutex_;
  std::function<void()> feed_grew_;
};

}  // namespace proteus::store::sql
