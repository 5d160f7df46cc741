#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "net/testing/http_test_server.hpp"
#include "server/core/listeners.hpp"
#include "server/core/session_ids.hpp"
#include "server/core/session_records.hpp"
#include "server/http/http_endpoint.hpp"
#include "server/http/other_processes.hpp"

// For tests: processes of a cluster with one endpoint each.
namespace proteus::server {

// Keeps the records of sessions in memory. Thread-safe.
class MemoryRecords final : public SessionRecords {
 public:
  void put(const std::string& id, const SessionRecord& record) override {
    const std::scoped_lock lock(mutex_);
    records_.insert_or_assign(id, record);
  }
  void remove(const std::string& id, const SessionRecord::Holder& holder) override {
    const std::scoped_lock lock(mutex_);
    if (is_held(id, holder)) records_.erase(id);
  }
  void release(const std::string& id, const SessionRecord& record) override {
    const std::scoped_lock lock(mutex_);
    if (!is_held(id, record.holder)) return;
    records_[id] = record;
    records_[id].holder.process = nobody();
  }
  Task<Result<bool>> hold(std::string id, SessionRecord record) override {
    put(id, record);
    co_return true;
  }
  Task<Result<std::optional<SessionRecord>>> read(std::string id) override {
    if (on_read) on_read();
    co_return find(id);
  }
  Task<Result<bool>> replace(std::string id, SessionRecord::Holder before, SessionRecord next) override {
    const std::scoped_lock lock(mutex_);
    if (!is_held(id, before)) co_return false;
    records_[id] = std::move(next);
    co_return true;
  }

  std::optional<SessionRecord> find(const std::string& id) const {
    const std::scoped_lock lock(mutex_);
    const auto found = records_.find(id);
    return found == records_.end() ? std::nullopt : std::optional(found->second);
  }

  std::function<void()> on_read;  // called on a worker's thread

 private:
  bool is_held(const std::string& id, const SessionRecord::Holder& holder) const {
    const auto found = records_.find(id);
    return found != records_.end() && found->second.holder == holder;
  }

  mutable std::mutex mutex_;
  std::map<std::string, SessionRecord> records_;
};

// The other processes after all of them have ended.
class EndedProcesses final : public OtherProcesses {
 public:
  Task<Result<Relayed>> relay(net::Exchange&, ProcessKey) override {
    if (on_relay) on_relay();
    co_return Relayed::gone;
  }
  Task<Result<bool>> lives(ProcessKey) override { co_return false; }
  bool doubt_us() const override { return false; }
  std::vector<ProcessKey> living() const override { return {}; }

  std::function<void()> on_relay;  // called on a worker's thread
};

// One process. Every request is mia's, with the same credentials.
class Process {
 public:
  Process(const std::string& name, Service& service, MemoryRecords& records, HttpEndpointOptions options = {})
      : ids(SealingKey::derive("pepper", "session ids"), process_key_of(name)),
        endpoint(service, listeners, clock, SealingKey::derive("pepper", "states"),
                 complete(std::move(options), records)),
        server(
            [this](net::Exchange& exchange) {
              return exchange.request().path() == "/sse" ? endpoint.handle_old_sse(exchange)
                                                         : endpoint.handle(exchange);
            },
            {}, 1, net::TestServer::Calls::with_heads) {}

  // Returns the id of a session of mia's at a process that has ended.
  static std::string left_session(MemoryRecords& records, mcp::Version version = mcp::kNewestLegacy) {
    const ProcessKey ended = process_key_of("ended");
    std::string id =
        SessionIds(SealingKey::derive("pepper", "session ids"), ended).mint({.principal = "mia"}, version, "{}");
    records.put(id, {.holder = {ended, 1}, .client_info = "{}"});
    return id;
  }

  ManualClock clock;
  Listeners listeners;
  SessionIds ids;
  EndedProcesses others;
  const std::shared_ptr<const Grant> grant = std::make_shared<const Grant>();
  HttpEndpoint endpoint;
  net::TestServer server;

 private:
  HttpEndpointOptions complete(HttpEndpointOptions options, MemoryRecords& records) {
    options.doorkeeper.look = [this](const net::Request&) -> std::optional<Admission> {
      return Caller{.principal = "mia", .grant = grant};
    };
    options.session_ids = &ids;
    options.others = &others;
    options.session_records = &records;
    return options;
  }
};

}  // namespace proteus::server
