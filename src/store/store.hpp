#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "base/task.hpp"
#include "store/records.hpp"

namespace proteus::store {

// What keeps the store from working, for an operator to see.
enum class Fault : std::uint8_t { full, busy, corrupt, read_only, unavailable };

std::string_view to_string(Fault fault);

struct Health {
  struct Trouble {
    Fault fault;
    std::string message;
  };
  std::optional<Trouble> writing;  // what the last write met; nothing once one succeeds, unless it was a damage
  std::optional<Trouble> reading;
};

// The port to what must survive the process. Its functions may be called from any thread and any executor that runs one
// handler at a time; a caller goes on where it was. The store must outlive the calls into it, apart from those that
// were cancelled: cancelling a call ends the wait and not the work.
//
// A write that succeeded is durable, as far as the implementation is, and later reads show it. One that failed changed
// nothing, apart from one whose error is of kind `interrupted`: a connection broke, and it may have happened. A store
// that cannot write may still read.
class Store {
 public:
  virtual ~Store() = default;

  // Does all of them, in their order, or none.
  virtual Task<Result<Written>> write(Writes writes) = 0;

  // In the order in which they were first put.
  virtual Task<Result<std::vector<UpstreamRecord>>> upstreams() = 0;
  virtual Task<Result<std::optional<UpstreamRecord>>> upstream(std::string name) = 0;
  // Of all upstreams, or of one; by upstream, then kind.
  virtual Task<Result<std::vector<SnapshotRecord>>> snapshots() = 0;
  virtual Task<Result<std::vector<SnapshotRecord>>> snapshots_of(std::string upstream) = 0;
  // Those with a number above `since`, at most `limit` of them.
  virtual Task<Result<ChangePage>> changes(std::uint64_t since, std::size_t limit) = 0;
  // The newest first, at most `limit` of them; to go on, those with a number below `before`.
  virtual Task<Result<std::vector<AuditRecord>>> audits(std::size_t limit, std::optional<std::uint64_t> before) = 0;
  virtual Task<Result<std::optional<std::string>>> setting(std::string key) = 0;
  // Those whose keys begin so; by key.
  virtual Task<Result<std::vector<Setting>>> settings(std::string prefix) = 0;
  // By kind, name and hash.
  virtual Task<Result<std::vector<PinRecord>>> pins_of(std::string upstream) = 0;
  // By id.
  virtual Task<Result<std::vector<ToolSessionRecord>>> tool_sessions() = 0;
  virtual Task<Result<std::optional<ToolSessionRecord>>> tool_session(std::string id) = 0;
  // Of all sessions; by session, then name.
  virtual Task<Result<std::vector<SessionToolRecord>>> session_tools() = 0;
  virtual Task<Result<std::vector<SessionToolRecord>>> session_tools_of(std::string session) = 0;
  // By name.
  virtual Task<Result<std::vector<TokenRecord>>> tokens() = 0;
  virtual Task<Result<std::optional<TokenRecord>>> token(std::string name) = 0;
  // By id.
  virtual Task<Result<std::vector<SealedRecord>>> sealed(std::string kind) = 0;
  virtual Task<Result<std::optional<SealedRecord>>> sealed_record(std::string kind, std::string id) = 0;

  // By name.
  virtual Task<Result<std::vector<MemberRecord>>> members() = 0;
  virtual Task<Result<std::vector<LeaseRecord>>> leases() = 0;

  // The entries with a number above `since`, at most `limit` of them.
  virtual Task<Result<FeedPage>> feed(std::uint64_t since, std::size_t limit) = 0;
  // Called whenever the feed may have grown, by this process or another; on a thread of the store's or of a writer's,
  // which it must not block. One at a time: an empty function ends it, and is not called into after this returns.
  virtual void on_feed(std::function<void()> grew) = 0;

  // Seals anew what was sealed with another key than the current one; says how many records that were. Fails, and
  // changes nothing, where one of them cannot be opened.
  virtual Task<Result<std::size_t>> reseal() = 0;

  virtual Health health() const = 0;

  // Units of one write.
  Task<Result<>> put(UpstreamRecord record);
  Task<Result<>> put(SnapshotRecord record);
  Task<Result<>> put(Setting setting);
  Task<Result<>> remove_upstream(std::string name);
  Task<Result<>> append(AuditRecord record);
  // The number it was given.
  Task<Result<std::uint64_t>> append(ChangeRecord record);
};

}  // namespace proteus::store
