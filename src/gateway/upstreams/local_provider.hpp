#pragma once

#include "base/clock.hpp"
#include "base/tasks/task.hpp"
#include "catalog/definitions/names.hpp"
#include "catalog/view/view.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// A provider within the process, which offers definitions and answers for them. Thread-safe.
class LocalProvider {
 public:
  virtual ~LocalProvider() = default;

  // Returns the name that its snapshots have.
  virtual const catalog::UpstreamName& name() const = 0;
  // Returns the current offer; null for nothing.
  virtual catalog::SnapshotPointer snapshot() const = 0;
  // Answers a call, a read, a prompt or a completion for an entry of one of its snapshots. Called on a worker's thread;
  // the call, and the view in which the entry was found, outlive the task.
  virtual Task<mcp::Outcome> handle(server::Call& call, const catalog::Found& found) = 0;
  // Releases what has not been used since that time. Called every few seconds, on any thread.
  virtual void drop_unused_since(Clock::Monotonic /*time*/) {}
};

}  // namespace proteus::gateway
