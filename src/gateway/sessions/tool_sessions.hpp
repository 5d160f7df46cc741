#pragma once

#include <atomic>
#include <chrono>
#include <functional>
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

#include "base/secret.hpp"
#include "base/task_group.hpp"
#include "base/waiting.hpp"
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
  net::HttpClientOptions http;  // apart from which addresses may be asked
  std::size_t sessions = 100'000;
  ProcessKey process = {};  // this one among several that serve as one; empty where it is alone
};

// The tool sessions: made, given tools, taken away, by whoever has the admin secret; found by their tokens at each
// request. What was acknowledged is in the store, and audited there in the same write. A change that fails has no
// effect; taking a session away does not fail.
//
// Functions may be called on any worker's thread; changes of one session happen one after the other. Made before the
// workers run; `stop` must have ended before it is destroyed.
class ToolSessions {
 public:
  static constexpr std::size_t kMaxTools = 256;                        // of one session
  static constexpr std::size_t kMaxToolBytes = std::size_t{1} << 20U;  // of all tools of one, as clients see them
  static constexpr std::size_t kMaxToken = 4096;

  // Everything outlives it.
  struct Dependencies {
    net::Workers& workers;
    Gateway& gateway;
    store::Store& store;
    const Clock& clock;
    const Egress& egress;
    bool shared = false;  // with other processes: what they changed is not overwritten
  };
  ToolSessions(Dependencies dependencies, ToolSessionOptions options);
  ~ToolSessions();

  // At the start, before anything is asked: what is in the store. What cannot be read stays there, and is not served.
  Task<Result<>> load();
  // On the control thread: from now on idle sessions end, and the store hears when each was last used.
  void start();
  Task<> stop();

  // Where other processes share the store: they made, changed or removed it, by the entries of the feed with these
  // numbers. What this process did itself is known already.
  Task<Result<>> follow(ToolSessionId id, std::vector<std::uint64_t> numbers = {});
  // The same for all.
  Task<Result<>> follow_all();
  // Thread-safe. Whether removals may have been missed for too long. Then no token is known.
  void set_blind(bool blind) { blind_ = blind; }

  struct Init {
    ToolSessionId id;
    Secret user_token;
    std::string user_id;  // JSON
    std::optional<Secret> backend_token = {};
    std::string context = {};
    CatalogMode catalog = CatalogMode::shared;
  };
  enum class Initialized : std::uint8_t { created, updated };
  // Binds a token to a session, and makes it where there is none. One of another user is refused, and so is a token
  // that somebody else has. `who` is the name of the admin key, for the audit.
  Task<Result<Initialized>> init(Init init, std::string who);

  // Reads the tools of a registration from a JSON array and its text. All faults are in the data of the error.
  Result<std::vector<providers::ReadTool>> read_tools(const boost::json::array& parsed, std::string_view text);

  struct Registration {
    ToolSessionId id;
    std::vector<providers::ReadTool> tools;
    std::optional<Secret> user_token = {};  // makes the session where there is none
    std::optional<std::string> user_id = {};
  };
  // All of them, or none; one of a name that is there already takes its place. Gives their names.
  Task<Result<std::vector<std::string>>> register_tools(Registration registration, std::string who);
  Task<Result<>> unregister(ToolSessionId id, std::string name, std::string who);
  struct Removed {
    std::size_t tools = 0;  // none where there was no such session
    // False where the store did not take it. The token is withdrawn all the same, and the store is asked again until it
    // does; a process that starts before that serves the session again.
    bool is_durable = true;
  };
  Task<Removed> cleanup(ToolSessionId id, std::string who);

  // The session, which is used by that; null where there is none.
  std::shared_ptr<ToolSession> use(const ToolSessionId& id);
  std::size_t size() const { return table_.size(); }
  std::vector<ToolSessionEntry> all() const { return table_.all(); }
  Confirmations& confirmations() { return confirmations_; }
  OwnChanges& changes() { return changes_; }

  // On any worker's thread: ends what was idle for too long, and writes when sessions were last used. A timer's
  // business; for tests that move the time by hand.
  Task<> look_over();

 private:
  class ExclusiveAccess;
  // A session by its id: one that is there, or one that was idle for too long and is to be taken out.
  struct Known {
    ToolSessionEntry live;
    ToolSessionEntry idle;
  };

  Task<Result<>> do_follow(ToolSessionId id, std::vector<std::uint64_t> numbers);
  void note_own(const ToolSessionId& id, const store::Written& written);
  // Whether there are some, and this process wrote all of them. In ascending order.
  bool were_own(const ToolSessionId& id, const std::vector<std::uint64_t>& numbers);
  void take_over(const store::ToolSessionRecord& record, ToolSessionEntry entry,
                 const std::vector<store::SessionToolRecord>& tools);
  std::optional<ToolOfSet> read_tool(const store::SessionToolRecord& record);
  std::optional<Init> read_session(const store::ToolSessionRecord& record) const;
  void expect(store::Writes& writes, const ToolSessionId& id, std::uint64_t version) const;
  void expect_tool(store::Writes& writes, ToolSession& session, const std::string& tool) const;
  store::PutToolSession write_of(const Init& init, store::Time created_at);
  // Of sessions that nobody used here for a while: perhaps somebody did elsewhere.
  Task<> ask_for_uses();
  Task<bool> was_used_elsewhere(std::shared_ptr<ToolSession> session);
  Task<Result<Initialized>> do_init(Init init, std::string who);
  Task<Result<std::vector<std::string>>> do_register(Registration registration, std::string who);
  Task<Result<>> do_unregister(ToolSessionId id, std::string name, std::string who);
  Task<Removed> do_cleanup(ToolSessionId id, std::string who);
  // Of a session that was taken away, written later, and not of another one that has its id by then.
  struct Removal {
    store::Time created_at;
    store::Writes writes;
  };
  Task<Result<>> write_removal(std::string id, Removal removal);
  // Writes what the store did not take when sessions were taken away.
  Task<> write_removals();
  Task<> do_look_over();
  std::chrono::milliseconds interval() const;  // between two looks
  Task<> end_idle();
  Task<> write_uses();
  Task<> look_over_now_and_then();

  Known look_up(const ToolSessionId& id) const;
  // The token of a session to be, for as long as the claim lives; `by` is the session where there is one.
  Result<std::shared_ptr<void>> claim(const Init& init, const ToolSession* by);
  store::ToolSessionRecord record_of(const Init& init, store::Time created_at);
  static std::shared_ptr<const SessionBinding> binding_of(const Init& init);
  static bool looks_the_same(const ToolSet& before, const ToolSet& after);
  static Result<> check_size(const ToolSet& set);
  std::shared_ptr<const Principal> principal_for(const std::shared_ptr<ToolSession>& session,
                                                 const SessionBinding& binding) const;
  ToolSessionEntry make(ToolSessionId id, store::Time created_at, Clock::Monotonic last_used) const;
  store::Time next_created_at();
  // The wall clock's time; it never goes back behind what is in the store, and so ends no session by being wrong.
  store::Time time_now();
  void put(ToolSessionEntry& entry, const std::shared_ptr<const SessionBinding>& binding);
  // Ends what clients have open, of those who have this key.
  void revoke(const std::string& key, const std::function<bool(const Principal&)>& whose);
  void end(const ToolSessionEntry& entry);
  store::Write audit(std::string who, std::string what, boost::json::object detail) const;
  boost::asio::io_context& control() const { return dependencies_.workers.at(0); }

  Dependencies dependencies_;
  const ToolSessionOptions options_;
  providers::SharedSchemas schemas_;
  ToolSets sets_;
  ToolClients clients_;
  Confirmations confirmations_;
  // Of their own, so that agents delay no refresh.
  BackgroundThreads checks_{1};
  const SessionCalls calls_;
  ToolSessionTable table_;

  // Of the control thread.
  OwnChanges changes_;
  TaskGroup background_;
  std::unordered_set<std::string> busy_;  // sessions that are being changed
  Bell freed_;
  std::map<std::string, Removal> removals_;  // that the store did not take yet, by session
  // Numbers in the feed of what this process wrote, by session, until the feed has told of them.
  std::unordered_map<std::string, std::vector<std::uint64_t>> own_writes_;
  std::set<json::Digest> claimed_;  // tokens that are being given to a session
  boost::asio::steady_timer timer_;
  Clock::Monotonic written_until_{};
  store::Time last_created_{};
  store::Time latest_{};  // that was given to the store, or found there
  Clock::Monotonic latest_at_{};
  std::atomic<bool> blind_ = false;
  bool stopped_ = false;
};

}  // namespace proteus::gateway
