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
#include "base/debounce.hpp"
#include "catalog/contexts/access.hpp"
#include "catalog/definitions/kind.hpp"
#include "gateway/callers/own_lists.hpp"
#include "gateway/upstreams/upstreams.hpp"
#include "server/core/service.hpp"

namespace proteus::gateway {

class Worker;
using CallerConnection = std::shared_ptr<client::Connection>;

// A legacy server is told once how much it is to log, for the whole connection; what a request wants of that is chosen
// where it is told of.
enum class LogWish : std::uint8_t { none, all };
// Of a session: of what it wants by default, servers send at least as much by default.
inline LogWish wish_of(mcp::LogLevel level) { return level < mcp::LogLevel::info ? LogWish::all : LogWish::none; }

// Whom a line is for. The functions may be called on any thread.
struct SessionObserver {
  // What the caller's streams want to hear of; nothing where it has no stream.
  std::function<std::optional<mcp::SubscriptionFilter>()> wanted;
  // Whether there is a stream to tell it on.
  std::function<bool()> attached;
  // Of those who may use the same, whether anything that has changed is left to them.
  using Concerns = std::function<bool(const catalog::Access&)>;
  std::function<void(mcp::Method changed, const Concerns& concerns)> list_changed;
  std::function<void(const std::string& uri)> resource_updated;
  // A notification that belongs to no request; empty where there is no way to the caller for it.
  std::function<void(const json::Message& notification)> told = {};
  // What has become of a task of an upstream; empty where there is no such way.
  std::function<void(const std::string& upstream, const json::Message& notification)> task_told = {};
  // It has a session with an upstream, by which another process could go on with it; nothing where only this one can.
  // Empty where nobody wants to know.
  std::function<void(const std::string& upstream, std::optional<client::ResumedSession> session)> agreed = {};
  // Whether the caller wants to be told more than servers tell by themselves.
  std::function<LogWish()> logs = [] { return LogWish::none; };
  std::shared_ptr<OwnLists> lists;

  // For a line on which nothing is heard.
  static SessionObserver nobody() {
    return {.wanted = [] { return std::nullopt; },
            .attached = [] { return false; },
            .list_changed = [](mcp::Method, const Concerns&) {},
            .resource_updated = [](const std::string&) {},
            .lists = std::make_shared<OwnLists>()};
  }
};

// A caller's own connection to a legacy upstream, and what is announced on it: that is for this caller alone. It is
// listened to for as long as somebody wants to hear of something. Belongs to the thread of its worker, and may be let
// go of on any.
class UpstreamSession : public std::enable_shared_from_this<UpstreamSession> {
 public:
  // Everything given outlives it. Opens nothing by itself, unless somebody listens.
  static std::shared_ptr<UpstreamSession> make(Worker& worker, const ServedUpstream& upstream, client::Options options,
                                               SessionObserver observer);
  ~UpstreamSession();
  UpstreamSession(const UpstreamSession&) = delete;
  UpstreamSession& operator=(const UpstreamSession&) = delete;

  Worker& worker() const { return worker_; }
  std::uint64_t instance() const { return instance_; }
  const CallerConnection& connection() const { return connection_; }
  // Whether the upstream may ask the caller something.
  bool may_ask() const { return may_ask_; }

  // A request on it, once what follows from it can be heard.
  static Task<Result<client::Answer>> request(std::shared_ptr<UpstreamSession> self, mcp::Method method,
                                              client::Params params, client::RequestOptions options, LogWish logs);
  // The same where that needs no waiting, for an answer that stays on this thread; null where it does. See
  // client::Connection.
  std::shared_ptr<client::PendingRequest> post(mcp::Method method, const client::Params& params,
                                               client::RequestOptions& options, LogWish logs);

  // Notes a use. False where `ready` is to be awaited before anything is sent, or what follows from it may be missed.
  bool use();
  // Ends when it is listened to, or when that takes too long to be waited for.
  Task<> ready();

  // What is wanted may be other than before.
  void renew();
  // The caller tells the upstream something, if it has a session there.
  void notify(std::string notification, bool roots_changed);
  // These resources are followed here, for as long as they are wanted; ends when the upstream has agreed or refused.
  Task<std::vector<server::Service::Refused>> follow(std::vector<std::string> uris);
  const std::set<std::string>& followed() const { return uris_; }

  // Stops listening where the caller has no stream, and used it last before that time.
  void rest_if_idle(Clock::Monotonic time);
  Clock::Monotonic used() const { return used_; }
  // Whether a program runs for it, and nobody waits for anything of that.
  bool holds_idle_program() const;
  // How long such a program may run on.
  std::chrono::milliseconds program_idle() const { return program_idle_; }
  // Ends it where so; the next request starts it again.
  Task<bool> end_idle_program();
  // Another one takes its place; what runs on it goes on, and nothing is heard on it any more.
  void retire();
  // Another process goes on with it.
  void leave();
  // On any thread.
  bool retired() const { return retired_; }

  // Listens again where that has failed longer ago.
  void try_again_after(std::chrono::seconds time);

 private:
  UpstreamSession(Worker& worker, const ServedUpstream& upstream, std::chrono::milliseconds stream_wait,
                  SessionObserver observer);

  void show_nothing_of_its_own();
  void on_agreed(const std::string& upstream, const client::ServerFacts& facts);

  void listen_anew();
  Task<> log_everything();
  void want(mcp::SubscriptionFilter wanted);
  Task<> listen();
  Task<Result<>> wait_until_settled();
  void on_announcement(const client::Announcement& announcement);
  void missed();
  void changed(catalog::KindSet kinds);
  // What is given is let go of at its end.
  Task<> review(std::shared_ptr<void> reviewing);
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
  bool settled_ = true;      // what is wanted was asked for
  bool waited_for_ = false;  // long enough, also where it is not settled
  bool listening_ = false;
  bool heard_ = false;  // ever
  bool resting_ = false;
  std::atomic<bool> retired_ = false;
  std::optional<Error> failure_;
  Clock::Monotonic failed_at_{};
  Bell settling_;

  bool reviewing_ = false;
  catalog::KindSet changed_;
  Debounce telling_;
  catalog::Snapshot::Lists own_;
  catalog::SnapshotPointer shown_;  // of those
};

}  // namespace proteus::gateway
