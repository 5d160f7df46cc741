#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/tasks/debounce.hpp"
#include "catalog/contexts/access.hpp"
#include "catalog/definitions/kind.hpp"
#include "gateway/callers/own_lists.hpp"
#include "gateway/upstreams/upstreams.hpp"
#include "server/core/service.hpp"

namespace proteus::gateway {

class Worker;

// A worker's connection to an upstream, for callers. May be used only on the worker's thread. The last holder may
// release it on any thread; it is then closed in the background.
using CallerConnection = std::shared_ptr<client::Connection>;

// Whether the upstream must send all log messages. A legacy server has one log level per connection, so the level is
// set to `debug`, and messages are filtered where they are forwarded.
enum class LogWish : std::uint8_t { none, all };
// The wish of a session. Servers send `info` and above by default, so only finer levels need a request.
inline LogWish wish_of(mcp::LogLevel level) { return level < mcp::LogLevel::info ? LogWish::all : LogWish::none; }

// The caller that an upstream session serves. The functions may be called on any thread.
struct SessionObserver {
  // Returns what the caller's streams want to be notified of; nothing if the caller has no stream.
  std::function<std::optional<mcp::SubscriptionFilter>()> wanted;
  // Whether the caller has a stream.
  std::function<bool()> attached;
  // Returns whether a change affects entries that an access allows.
  using Concerns = std::function<bool(const catalog::Access&)>;
  std::function<void(mcp::Method changed, const Concerns& concerns)> list_changed;
  std::function<void(const std::string& uri)> resource_updated;
  // Receives notifications that belong to no request; empty if they cannot reach the caller.
  std::function<void(const json::Message& notification)> told = {};
  // Receives the status of an upstream's tasks; empty if it cannot reach the caller.
  std::function<void(const std::string& upstream, const json::Message& notification)> task_told = {};
  // Receives the session that was agreed on with an upstream, for a process that continues it; nothing if only this
  // process can. Empty if nobody needs it.
  std::function<void(const providers::UpstreamSettings& upstream, std::optional<client::ResumedSession> session)>
      agreed = {};
  // Returns whether the caller wants more log messages than servers send by default.
  std::function<LogWish()> logs = [] { return LogWish::none; };
  std::shared_ptr<OwnLists> lists;

  // An observer for upstream sessions that do not listen.
  static SessionObserver nobody() {
    return {.wanted = [] { return std::nullopt; },
            .attached = [] { return false; },
            .list_changed = [](mcp::Method, const Concerns&) {},
            .resource_updated = [](const std::string&) {},
            .lists = std::make_shared<OwnLists>()};
  }
};

// A caller's own connection to a legacy upstream. What the upstream announces on it is for this caller alone. Listens
// while the caller wants notifications. Belongs to the thread of its worker; may be destroyed on any thread.
class UpstreamSession : public std::enable_shared_from_this<UpstreamSession> {
 public:
  // Everything passed must outlive it. Connects when first used, or at once if the caller listens.
  static std::shared_ptr<UpstreamSession> make(Worker& worker, const ServedUpstream& upstream, client::Options options,
                                               SessionObserver observer);
  ~UpstreamSession();
  UpstreamSession(const UpstreamSession&) = delete;
  UpstreamSession& operator=(const UpstreamSession&) = delete;

  Worker& worker() const { return worker_; }
  std::uint64_t instance() const { return instance_; }
  const CallerConnection& connection() const { return connection_; }
  // Whether the client can be asked anything.
  bool may_ask() const { return may_ask_; }

  // Sends a request, once the session listens, and returns its result.
  static Task<Result<client::Answer>> request(std::shared_ptr<UpstreamSession> self, mcp::Method method,
                                              client::Params params, client::RequestOptions options, LogWish logs);
  // Sends a request if that needs no waiting; otherwise returns null. See client::Connection::post. The answer stays on
  // this thread.
  std::shared_ptr<client::PendingRequest> post(mcp::Method method, const client::Params& params,
                                               client::RequestOptions& options, LogWish logs);

  // Notes a use. Returns false if `ready` must be awaited before a request, or else announcements may be missed.
  bool use();
  // Returns when the session listens, or after `stream_wait`.
  Task<> ready();

  // Re-evaluates which notifications the caller wants.
  void renew();
  // Forwards a notification of the caller, if there is a session with the upstream.
  void notify(std::string notification, bool roots_changed);
  // Subscribes to resources for as long as the caller wants them. Returns the refused ones when the upstream has
  // answered.
  Task<std::vector<server::Service::Refused>> follow(std::vector<std::string> uris);
  const std::set<std::string>& followed() const { return uris_; }

  // Stops listening if the caller has no stream and has not used the session since `time`.
  void rest_if_idle(Clock::Monotonic time);
  Clock::Monotonic used() const { return used_; }
  // Whether the session runs a program that nothing waits for.
  bool holds_idle_program() const;
  // How long an idle program keeps running.
  std::chrono::milliseconds program_idle() const { return program_idle_; }
  // Ends the program if it is idle; the next request starts it again. Returns whether it was ended.
  Task<bool> end_idle_program();
  // Stops listening, because another session replaces this one or the upstream is gone. Running requests continue.
  void retire();
  // Leaves the session to another process, which continues it.
  void leave();
  // Thread-safe.
  bool retired() const { return retired_; }

  // Listens again if listening failed more than `time` ago.
  void try_again_after(std::chrono::seconds time);

 private:
  UpstreamSession(Worker& worker, const ServedUpstream& upstream, std::chrono::milliseconds stream_wait,
                  SessionObserver observer);

  void show_nothing_of_its_own();
  void on_agreed(const client::ServerFacts& facts);

  void listen_anew();
  Task<> log_everything();
  void want(mcp::SubscriptionFilter wanted);
  Task<> listen();
  Task<Result<>> wait_until_settled();
  void on_announcement(const client::Announcement& announcement);
  void missed();
  void changed(catalog::KindSet kinds);
  Task<> review();
  void tell_of_change(catalog::KindSet kinds, const catalog::Snapshot::Lists& before,
                      const catalog::Snapshot::Lists& after, bool direct) const;
  Task<catalog::KindSet> read_own_lists(std::shared_ptr<providers::Upstream> upstream, catalog::KindSet kinds);
  Task<Result<catalog::DefinitionList::Pointer>> read_own_list(std::shared_ptr<providers::Upstream> upstream,
                                                               catalog::Kind kind);

  Worker& worker_;
  const std::uint64_t instance_;
  const std::weak_ptr<providers::Upstream> upstream_;
  const bool runs_program_;
  const std::chrono::milliseconds program_idle_;
  const std::chrono::milliseconds stream_wait_;
  const SessionObserver observer_;
  bool may_ask_ = false;
  CallerConnection connection_;
  Clock::Monotonic used_;

  std::set<std::string> uris_;
  mcp::SubscriptionFilter wanted_;
  bool settled_ = true;      // the upstream was asked for what is wanted
  bool waited_for_ = false;  // `ready` was awaited: requests no longer wait, settled or not
  bool listening_ = false;
  bool heard_ = false;  // whether it has ever listened
  bool resting_ = false;
  std::atomic<bool> retired_ = false;
  std::optional<Error> failure_;
  Clock::Monotonic failed_at_{};
  Bell settling_;

  bool reviewing_ = false;
  catalog::KindSet changed_;
  std::shared_ptr<void> behind_;  // while `changed_` has lists that the caller's requests wait for
  Debounce telling_;
  catalog::Snapshot::Lists own_;
  catalog::SnapshotPointer shown_;  // the snapshot of `own_` that the caller sees
};

}  // namespace proteus::gateway
