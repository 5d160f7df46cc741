#pragma once

#include "base/clock.hpp"
#include "base/task.hpp"
#include "catalog/definitions/names.hpp"
#include "catalog/view/view.hpp"
#include "mcp/reply.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// Someone within the process who offers definitions and answers for them. Thread-safe.
class LocalProvider {
 public:
  virtual ~LocalProvider() = default;

  // The name that its snapshots have.
  virtual const catalog::UpstreamName& name() const = 0;
  // What it offers now; null for nothing.
  virtual catalog::SnapshotPointer snapshot() const = 0;
  // Answers a request for something in a snapshot of its own: a call, a read, a prompt or a completion. On the thread
  // of a worker; the call, and the view that was found in, live as long as the task.
  virtual Task<mcp::Outcome> handle(server::Call& call, const catalog::Found& found) = 0;
  // Lets go of what it keeps for nobody since that time; from any thread, every few seconds.
  virtual void drop_unused_since(Clock::Monotonic /*time*/) {}
};

}  // namespace proteus::gateway
