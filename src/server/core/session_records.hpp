#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "base/process_key.hpp"
#include "base/task.hpp"
#include "mcp/meta.hpp"

namespace proteus::server {

// What another process needs to know to go on with a session whose process has ended. The rest is in its id (ADR 38).
struct SessionRecord {
  // Who has it, and how many have had it.
  struct Holder {
    ProcessKey process;  // `nobody` where it waits for whoever comes first
    std::uint64_t term = 1;
    friend bool operator==(const Holder&, const Holder&) = default;
  };
  Holder holder;
  mcp::LogLevel log_level = mcp::LogLevel::info;
  std::string client_info = {};
  std::vector<std::string> subscriptions = {};
  // What whoever answers needs, as JSON; empty for nothing. Nothing at all where that lives in the process itself, so
  // that the session ends with it.
  std::optional<std::string> state = "";

  friend bool operator==(const SessionRecord&, const SessionRecord&) = default;
};

// Where the records of sessions are, outside of the process: a port. What is there may be lost at any time, and then
// sessions end with their process. Thread-safe.
class SessionRecords {
 public:
  virtual ~SessionRecords() = default;

  // Keeps a record, without waiting, unless another process has the session.
  virtual void put(const std::string& id, const SessionRecord& record) = 0;
  // Forgets it, without waiting, unless another has the session.
  virtual void remove(const std::string& id, const SessionRecord::Holder& holder) = 0;
  // Says that nobody has the session any more, without waiting, unless another has it.
  virtual void release(const std::string& id, const SessionRecord& record) = 0;

  // The same as `put`; says whether the session is still the holder's.
  virtual Task<Result<bool>> hold(std::string id, SessionRecord record) = 0;
  // Nothing where there is none, or none that one of us has written.
  virtual Task<Result<std::optional<SessionRecord>>> read(std::string id) = 0;
  // Replaces the record of `before`; false where that is not there any more.
  virtual Task<Result<bool>> replace(std::string id, SessionRecord::Holder before, SessionRecord next) = 0;
};

}  // namespace proteus::server
