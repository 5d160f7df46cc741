#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "base/tasks/task_group.hpp"
#include "base/tasks/waiting.hpp"
#include "gateway/confirmation/confirmation.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/operate/egress.hpp"
#include "gateway/sessions/own_changes.hpp"
#include "gateway/sessions/tool_clients.hpp"
#include "gateway/sessions/tool_session.hpp"
#include "gateway/sessions/tool_session_table.hpp"
#include "gateway/sessions/tool_sets.hpp"
#include "providers/http_tool/http_tool_reader.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

struct ToolSessionOptions {
  std::chrono::milliseconds idle = std::chrono::minutes(30);
  std::chrono::milliseconds debounce{200};
  providers::HttpToolLimits calls;
  net::HttpClientOptions http;  // except the address filter
  std::size_t sessions = 100'000;
  ProcessKey process = {};  // key of this process in a cluster; empty outside of a cluster
};

// The registry of tool sessions. The application's back end creates sessions and registers tools with an admin key;
// each request finds its session by the token. A change that was acknowledged is in the store, written together with
// its audit entry. A change that fails has no effect. Removing a session never fails.
//
// Members may be called on any worker's thread unless stated otherwise. Changes of one session run one after the other.
// Must be made before the workers run. `stop` must complete before the destructor runs.
class ToolSessions {
 public:
  static constexpr std::size_t kMaxTools = 256;                        // per session
  static constexpr std::size_t kMaxToolBytes = std::size_t{1} << 20U;  // of a session, as clients see its tools
  static constexpr std::size_t kMaxToken = 4096;

  // All references must outlive this object.
  struct Dependencies {
    net::Workers& workers;
    Gateway& gateway;
    store::Store& store;
    const Clock& clock;
    const Egress& egress;
    bool shared = false;  // whether other processes share the store, so that their changes must not be overwritten
  };
  ToolSessions(Dependencies dependencies, ToolSessionOptions options);
  ~ToolSessions();

  // Reads the sessions from the store, at start-up before anything is served. Records that cannot be read stay in the
  // store and are not served.
  Task<Result<>> load();
  // Starts to end idle sessions and to write to the store when each session was last used. Called on the control
  // thread.
  void start();
  Task<> stop();

  // In a cluster, applies what other processes have changed in the session. `numbers` are the numbers of the feed's
  // entries, in ascending order. Does nothing if this process wrote all of them.
  Task<Result<>> follow(ToolSessionId id, std::vector<std::uint64_t> numbers = {});
  // Like `follow`, for all sessions.
  Task<Result<>> follow_all();

  struct Init {
    ToolSessionId id;
    Secret user_token;
    std::string user_id;  // JSON
    std::optional<Secret> backend_token = {};
    std::string context = {};
    CatalogMode catalog = CatalogMode::shared;
  };
  enum class Initialized : std::uint8_t { created, updated };
  // Binds a token to a session, and creates the session if there is none. Refuses a session of another user, and a
  // token that somebody else has. `who` is the name of the admin key, for the audit.
  Task<Result<Initialized>> init(Init init, std::string who);

  // Reads the tools of a registration from a JSON array and its text. The data of the error list all faults.
  Result<std::vector<providers::ReadTool>> read_tools(const boost::json::array& parsed, std::string_view text);

  struct Registration {
    ToolSessionId id;
    std::vector<providers::ReadTool> tools;
    std::optional<Secret> user_token = {};  // needed to create the session if there is none
    std::optional<std::string> user_id = {};
  };
  // Registers all tools or none, and returns their names. A tool replaces the session's tool of the same name.
  Task<Result<std::vector<std::string>>> register_tools(Registration registration, std::string who);
  Task<Result<>> unregister(ToolSessionId id, std::string name, std::string who);
  struct Removed {
    std::size_t tools = 0;  // 0 if there was no such session
    // False if the store did not take the removal. The token is refused all the same, and the write is retried until it
    // succeeds; a process that starts before that serves the session again.
    bool is_durable = true;
  };
  Task<Removed> cleanup(ToolSessionId id, std::string who);

  // Returns the session and counts that as use; null if there is none.
  std::shared_ptr<ToolSession> use(const ToolSessionId& id);
  std::size_t size() const { return table_.size(); }
  std::vector<ToolSessionEntry> all() const { return table_.all(); }
  OwnChanges& changes() { return changes_; }

  // Ends idle sessions and writes to the store when sessions were last used. A timer does this periodically; tests that
  // move the clock call it. May be called on any worker's thread.
  Task<> look_over();

 private:
  class ExclusiveAccess;
  // The result of a lookup by id: `live` if the session can be used, `idle` if it has been idle for too long and has to
  // be removed.
  struct Known {
    ToolSessionEntry live;
    ToolSessionEntry idle;
  };

  Task<Result<>> do_follow(ToolSessionId id, std::vector<std::uint64_t> numbers);
  void note_own(const ToolSessionId& id, const store::Written& written);
  // Returns whether this process wrote all of these numbers, which are in ascending order. False if there are none.
  bool were_own(const ToolSessionId& id, const std::vector<std::uint64_t>& numbers);
  void take_over(const store::ToolSessionRecord& record, ToolSessionEntry entry,
                 const std::vector<store::SessionToolRecord>& tools);
  std::optional<ToolOfSet> read_tool(const store::SessionToolRecord& record);
  std::optional<Init> read_session(const store::ToolSessionRecord& record) const;
  void expect(store::Writes& writes, const ToolSessionId& id, std::uint64_t version) const;
  void expect_tool(store::Writes& writes, ToolSession& session, const std::string& tool) const;
  store::PutToolSession write_of(const Init& init, store::Time created_at);
  // Asks the store for the last use of some of the sessions that were idle here for a while, because other processes
  // may have used them. Each round begins where the previous one ended.
  Task<> ask_for_uses();
  // Returns the version of the session's record if no other process has used the session lately; 0 if the store has no
  // such record. Returns nothing if it was used, if another session has its id, or if the store does not answer.
  Task<std::optional<std::uint64_t>> unused_version(std::shared_ptr<ToolSession> session);
  Task<Result<Initialized>> do_init(Init init, std::string who);
  Task<Result<std::vector<std::string>>> do_register(Registration registration, std::string who);
  Task<Result<>> do_unregister(ToolSessionId id, std::string name, std::string who);
  Task<Removed> do_cleanup(ToolSessionId id, std::string who);
  // The removal of a session that the store did not take yet. It does not apply to a later session with the same id.
  struct Removal {
    store::Time created_at;
    store::Writes writes;
  };
  Task<Result<>> write_removal(std::string id, Removal removal);
  // Retries the removals that the store did not take.
  Task<> write_removals();
  Task<> do_look_over();
  std::chrono::milliseconds interval() const;  // between two calls of `do_look_over`
  Task<> end_idle();
  // Ends these sessions, except for those that are being changed or were used at another process. Fails with `conflict`
  // if another process has just changed one.
  Task<Result<>> end_some(std::vector<ToolSessionEntry> idle);
  bool may_end(const ToolSession& session) const;
  // A running call uses its session all the time.
  void touch_calling();
  Task<> write_uses();
  Task<> look_over_now_and_then();

  Task<Known> look_up(ToolSessionId id);
  // Reserves the token for a session while the result lives. `by` is the session as it was looked up: its own token is
  // free for it, also if it is idle and about to be replaced.
  Result<std::shared_ptr<void>> claim(const Init& init, const Known& by);
  store::ToolSessionRecord record_of(const Init& init, store::Time created_at);
  static std::shared_ptr<const SessionBinding> binding_of(const Init& init);
  static bool looks_the_same(const ToolSet& before, const ToolSet& after);
  static Result<> check_size(const ToolSet& set);
  std::shared_ptr<const Principal> principal_for(const std::shared_ptr<ToolSession>& session,
                                                 const SessionBinding& binding) const;
  ToolSessionEntry make(ToolSessionId id, store::Time created_at, Clock::Monotonic last_used) const;
  store::Time next_created_at();
  // Returns the wall clock's time, but never an earlier time than the store has, so that a wrong clock ends no session.
  store::Time time_now();
  void put(ToolSessionEntry& entry, const std::shared_ptr<const SessionBinding>& binding);
  // Withdraws a principal that another one of the same session replaces, and ends its streams and client sessions.
  void revoke(const Principal& principal);
  // Ends the session with everything that its callers have open.
  void end(const ToolSessionEntry& entry);
  store::Write audit(std::string who, std::string what, boost::json::object detail) const;
  boost::asio::io_context& control() const { return dependencies_.workers.at(0); }

  Dependencies dependencies_;
  const ToolSessionOptions options_;
  providers::SharedSchemas schemas_;
  ToolSets sets_;
  ToolClients clients_;
  Confirmations confirmations_;
  // A separate thread, so that agents do not delay refreshes.
  BackgroundThreads checks_{1};
  const SessionCalls calls_;
  ToolSessionTable table_;

  // The following members belong to the control thread.
  OwnChanges changes_;
  TaskGroup background_;
  std::unordered_set<std::string> busy_;  // ids of sessions that are being changed
  Bell freed_;
  std::map<std::string, Removal> removals_;  // removals that the store did not take yet, by session
  // Feed numbers of writes of this process that the feed has not returned yet, by session.
  std::unordered_map<std::string, std::vector<std::uint64_t>> own_writes_;
  std::set<json::Digest> claimed_;  // tokens that are being bound to a session
  boost::asio::steady_timer timer_;
  Clock::Monotonic written_until_{};
  std::size_t asked_until_ = 0;  // where the next round of `ask_for_uses` begins
  store::Time last_created_{};
  store::Time latest_{};  // latest time that was written to the store or read from it
  Clock::Monotonic latest_at_{};
  bool stopped_ = false;
};

}  // namespace proteus::gateway
