#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "base/tasks/task.hpp"
#include "store/records.hpp"

namespace proteus::store {

// What keeps the store from working, as shown to operators.
enum class Fault : std::uint8_t { full, busy, corrupt, read_only, unavailable };

std::string_view to_string(Fault fault);

struct Health {
  struct Trouble {
    Fault fault;
    std::string message;
  };
  std::optional<Trouble> writing;  // of the last write; empty again after a success, unless the file is damaged
  std::optional<Trouble> reading;
};

// The port to everything that must survive the process. Thread-safe. A call resumes on the awaiting coroutine's
// executor, which must run one handler at a time. Cancelling a call ends the wait, but not the work. The store must
// outlive all calls that were not cancelled.
//
// A successful write is as durable as the implementation allows, and later reads see it. A failed write changed
// nothing, unless its error is of kind `interrupted`: then a connection broke, and the write may have happened. A store
// that cannot write may still be able to read.
class Store {
 public:
  virtual ~Store() = default;

  // Does all writes in their order, or none of them.
  virtual Task<Result<Written>> write(Writes writes) = 0;

  // In the order in which they were first put.
  virtual Task<Result<std::vector<UpstreamRecord>>> upstreams() = 0;
  virtual Task<Result<std::optional<UpstreamRecord>>> upstream(std::string name) = 0;
  // Of all upstreams, or of one; sorted by upstream, then kind.
  virtual Task<Result<std::vector<SnapshotRecord>>> snapshots() = 0;
  virtual Task<Result<std::vector<SnapshotRecord>>> snapshots_of(std::string upstream) = 0;
  // Changes with a number above `since`, at most `limit` of them.
  virtual Task<Result<ChangePage>> changes(std::uint64_t since, std::size_t limit) = 0;
  // The newest first, at most `limit` of them. If `before` is given, only those with a number below it.
  virtual Task<Result<std::vector<AuditRecord>>> audits(std::size_t limit, std::optional<std::uint64_t> before) = 0;
  virtual Task<Result<std::optional<std::string>>> setting(std::string key) = 0;
  // Settings whose keys begin with `prefix`; sorted by key.
  virtual Task<Result<std::vector<Setting>>> settings(std::string prefix) = 0;
  // Sorted by kind, name and hash.
  virtual Task<Result<std::vector<PinRecord>>> pins_of(std::string upstream) = 0;
  // Sorted by id.
  virtual Task<Result<std::vector<ToolSessionRecord>>> tool_sessions() = 0;
  virtual Task<Result<std::optional<ToolSessionRecord>>> tool_session(std::string id) = 0;
  // Of all sessions, or of one; sorted by session, then name.
  virtual Task<Result<std::vector<SessionToolRecord>>> session_tools() = 0;
  virtual Task<Result<std::vector<SessionToolRecord>>> session_tools_of(std::string session) = 0;
  // Sorted by name.
  virtual Task<Result<std::vector<TokenRecord>>> tokens() = 0;
  virtual Task<Result<std::optional<TokenRecord>>> token(std::string name) = 0;
  // Sorted by id.
  virtual Task<Result<std::vector<SealedRecord>>> sealed(std::string kind) = 0;
  virtual Task<Result<std::optional<SealedRecord>>> sealed_record(std::string kind, std::string id) = 0;

  // Sorted by name.
  virtual Task<Result<std::vector<MemberRecord>>> members() = 0;
  virtual Task<Result<std::vector<LeaseRecord>>> leases() = 0;

  // Entries with a number above `since`, at most `limit` of them.
  virtual Task<Result<FeedPage>> feed(std::uint64_t since, std::size_t limit) = 0;
  // Sets the callback for when the feed may have grown, through this process or another. It is called on a thread of
  // the store or of a writer, and must neither block that thread nor call `on_feed`. An empty function removes it. Once
  // this returns, the previous callback is not running, and is not called again.
  virtual void on_feed(std::function<void()> grew) = 0;

  // Seals again what was not sealed with the current key. Returns how many records that were. Fails, and changes
  // nothing, if a record cannot be opened.
  virtual Task<Result<std::size_t>> reseal() = 0;

  virtual Health health() const = 0;

  // Each writes a unit of one write.
  Task<Result<>> put(UpstreamRecord record);
  Task<Result<>> put(SnapshotRecord record);
  Task<Result<>> put(Setting setting);
  Task<Result<>> remove_upstream(std::string name);
  Task<Result<>> append(AuditRecord record);
  // Returns the number that the store assigned.
  Task<Result<std::uint64_t>> append(ChangeRecord record);
};

}  // namespace proteus::store
