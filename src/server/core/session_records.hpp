#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "base/secrets/process_key.hpp"
#include "base/tasks/task.hpp"
#include "mcp/meta.hpp"

namespace proteus::server {

// What another process needs to continue a session whose process has ended. The rest is in the session's id (ADR 38).
struct SessionRecord {
  // The process that has the session, and how many processes have had it.
  struct Holder {
    ProcessKey process;  // `nobody` if the next process that needs the session may take it
    std::uint64_t term = 1;
    friend bool operator==(const Holder&, const Holder&) = default;
  };
  Holder holder;
  mcp::LogLevel log_level = mcp::LogLevel::info;
  std::string client_info = {};
  std::vector<std::string> subscriptions = {};
  // The service's state of the session, as JSON; empty if there is none. Absent if that state lives in the process, so
  // that the session ends with the process.
  std::optional<std::string> state = "";

  friend bool operator==(const SessionRecord&, const SessionRecord&) = default;
};

// Port to the records of sessions outside of the process. Records may be lost at any time; sessions then end with their
// process. Thread-safe.
class SessionRecords {
 public:
  virtual ~SessionRecords() = default;

  // Stores the record without waiting, unless another process has the session.
  virtual void put(const std::string& id, const SessionRecord& record) = 0;
  // Deletes the record without waiting, unless another process has the session.
  virtual void remove(const std::string& id, const SessionRecord::Holder& holder) = 0;
  // Stores without waiting that no process has the session any more, unless another process has it.
  virtual void release(const std::string& id, const SessionRecord& record) = 0;

  // Like `put`, but waits. Returns whether the holder still has the session.
  virtual Task<Result<bool>> hold(std::string id, SessionRecord record) = 0;
  // Returns nothing if there is no record, or none that one of our processes wrote.
  virtual Task<Result<std::optional<SessionRecord>>> read(std::string id) = 0;
  // Replaces the record of the holder `before`. Returns false if there is no such record any more.
  virtual Task<Result<bool>> replace(std::string id, SessionRecord::Holder before, SessionRecord next) = 0;
};

}  // namespace proteus::server
