#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/background_threads.hpp"
#include "base/clock.hpp"
#include "base/secret.hpp"
#include "base/strong.hpp"
#include "gateway/confirmation/confirmation.hpp"
#include "gateway/sessions/tool_clients.hpp"
#include "gateway/upstreams/local_provider.hpp"
#include "json/canonical.hpp"
#include "providers/http_tool/http_tool.hpp"
#include "providers/http_tool/http_tool_call.hpp"
#include "store/time.hpp"

namespace proteus::gateway {

using ToolSessionId = Strong<std::string, struct ToolSessionIdTag>;

// What a tool session sees besides its own tools.
enum class CatalogMode : std::uint8_t { shared, session };

// What a session is bound to. Immutable; replaced as a whole.
struct SessionBinding {
  std::string user_id;  // JSON
  json::Digest token{};
  Secret bearer;        // for the back end
  std::string context;  // empty for none
  CatalogMode catalog = CatalogMode::shared;
};

// The tools of a session at one moment. Immutable.
struct ToolSet {
  catalog::SnapshotPointer snapshot;              // null where there are none
  std::vector<providers::HttpToolPointer> tools;  // by name

  providers::HttpToolPointer find(std::string_view name) const;
};

// What calls of session tools need. Outlives all sessions.
struct SessionCalls {
  const ToolClients& clients;
  const Clock& clock;
  Confirmations& confirmations;
  BackgroundThreads& background;  // for arguments and answers that take long to check
  providers::HttpToolLimits limits;
};

// A tool session: a token, and the tools that whoever has it is offered. Thread-safe; idle ones are small, because
// there are thousands.
class ToolSession final : public LocalProvider {
 public:
  ToolSession(ToolSessionId id, store::Time created_at, const SessionCalls& calls);

  const ToolSessionId& id() const { return id_; }
  // Of two that had the same id one after the other, never the same.
  store::Time created_at() const { return created_at_; }
  const catalog::UpstreamName& name() const override { return name_; }
  // The name of its principal, and of its snapshots: no configured token or upstream can have it.
  static std::string name_of(const ToolSessionId& id) { return "session:" + id.value(); }
  // The key of its principal, also after a restart. Another session that has the id later has another.
  std::string key() const;

  std::shared_ptr<const SessionBinding> binding() const;
  void bind(std::shared_ptr<const SessionBinding> binding);
  std::shared_ptr<const ToolSet> tools() const;
  void set_tools(std::shared_ptr<const ToolSet> tools);

  // Of its record in the store, as it is known here.
  std::uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void set_version(std::uint64_t version) { version_.store(version, std::memory_order_relaxed); }
  // The same of its tools, by name; of the control thread, and where several processes share the store.
  using ToolVersions = std::map<std::string, std::uint64_t, std::less<>>;
  ToolVersions& tool_versions() { return tool_versions_; }

  void touch(Clock::Monotonic now) { last_used_.store(now, std::memory_order_relaxed); }
  Clock::Monotonic last_used() const { return last_used_.load(std::memory_order_relaxed); }

  catalog::SnapshotPointer snapshot() const override;
  Task<mcp::Outcome> handle(server::Call& call, const catalog::Found& found) override;

 private:
  Task<mcp::Outcome> run_confirmed(server::Call& call, const providers::HttpToolPointer& tool,
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
