#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/secrets/secret.hpp"
#include "base/strong.hpp"
#include "base/tasks/background_threads.hpp"
#include "gateway/confirmation/confirmation.hpp"
#include "gateway/sessions/tool_clients.hpp"
#include "gateway/upstreams/local_provider.hpp"
#include "json/canonical.hpp"
#include "providers/http_tool/http_tool.hpp"
#include "providers/http_tool/http_tool_call.hpp"
#include "store/time.hpp"

namespace proteus::gateway {

using ToolSessionId = Strong<std::string, struct ToolSessionIdTag>;

// Whether a session sees the tools of the gateway's upstreams, or only its own.
enum class CatalogMode : std::uint8_t { shared, session };

// The settings of a session. Immutable; replaced as a whole.
struct SessionBinding {
  std::string user_id;  // JSON
  json::Digest token{};
  Secret bearer;        // for the back end
  std::string context;  // empty for none
  CatalogMode catalog = CatalogMode::shared;
};

// The tools of a session at one moment. Immutable.
struct ToolSet {
  catalog::SnapshotPointer snapshot;              // null if there are no tools
  std::vector<providers::HttpToolPointer> tools;  // sorted by name

  providers::HttpToolPointer find(std::string_view name) const;
};

// What calls of session tools need. Must outlive all sessions.
struct SessionCalls {
  const ToolClients& clients;
  const Clock& clock;
  Confirmations& confirmations;
  BackgroundThreads& background;  // checks large arguments and answers
  providers::HttpToolLimits limits;
};

// A tool session: the tools that the holder of one token is offered. Thread-safe. An idle session is small, because
// there are thousands.
class ToolSession final : public LocalProvider {
 public:
  ToolSession(ToolSessionId id, store::Time created_at, const SessionCalls& calls);

  const ToolSessionId& id() const { return id_; }
  // Differs between two sessions that had the same id one after the other.
  store::Time created_at() const { return created_at_; }
  const catalog::UpstreamName& name() const override { return name_; }
  // Returns the name of its principal and of its snapshots, which no configured token or upstream can have.
  static std::string name_of(const ToolSessionId& id) { return "session:" + id.value(); }
  // Returns the key of its principal, which stays the same after a restart. A later session with the same id has
  // another key.
  std::string key() const;

  std::shared_ptr<const SessionBinding> binding() const;
  void bind(std::shared_ptr<const SessionBinding> binding);
  std::shared_ptr<const ToolSet> tools() const;
  void set_tools(std::shared_ptr<const ToolSet> tools);

  // The version of its record in the store, as far as this process knows.
  std::uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void set_version(std::uint64_t version) { version_.store(version, std::memory_order_relaxed); }
  // The versions of its tools' records, by tool name. Used on the control thread, and only if several processes share
  // the store.
  using ToolVersions = std::map<std::string, std::uint64_t, std::less<>>;
  ToolVersions& tool_versions() { return tool_versions_; }

  void touch(Clock::Monotonic now) { last_used_.store(now, std::memory_order_relaxed); }
  Clock::Monotonic last_used() const { return last_used_.load(std::memory_order_relaxed); }

  catalog::SnapshotPointer snapshot() const override;
  Task<mcp::Outcome> handle(server::Call& call, const catalog::Found& found) override;

 private:
  Task<mcp::Outcome> run_confirmed(server::Call& call, const providers::HttpTool& tool, const std::string& content,
                                   std::string_view arguments);
  Task<mcp::Reply> run(server::Call& call, const providers::HttpTool& tool, std::string_view arguments);

  const ToolSessionId id_;
  const catalog::UpstreamName name_;
  const store::Time created_at_;
  const SessionCalls& calls_;
  std::atomic<Clock::Monotonic> last_used_{Clock::Monotonic{}};
  std::atomic<std::uint64_t> version_ = 0;
  ToolVersions tool_versions_;

  mutable std::mutex mutex_;
  std::shared_ptr<const SessionBinding> binding_;
  std::shared_ptr<const ToolSet> tools_;
};

}  // namespace proteus::gateway
