#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "gateway/connections/session_tasks.hpp"
#include "gateway/connections/upstream_session.hpp"
#include "server/core/session.hpp"

namespace proteus::gateway {

// The upstream sessions of one client session: what a legacy upstream keeps for a session is for this client alone.
// Owned by the client session. Thread-safe.
class UpstreamSessionsOfClient {
 public:
  // Returns the object of a client session; creates it if there is none.
  static std::shared_ptr<UpstreamSessionsOfClient> of(server::Session& session) {
    return std::static_pointer_cast<UpstreamSessionsOfClient>(session.attachment(
        [] { return std::static_pointer_cast<void>(std::make_shared<UpstreamSessionsOfClient>()); }));
  }
  // Like `of`; returns null if there are none.
  static std::shared_ptr<UpstreamSessionsOfClient> find(server::Session& session) {
    return std::static_pointer_cast<UpstreamSessionsOfClient>(session.attachment());
  }

  using Pointer = std::shared_ptr<UpstreamSession>;
  // Returns the session with an upstream, or adds what `make` returns.
  Pointer get(std::uint64_t instance, const std::function<Pointer()>& make) {
    const std::scoped_lock lock(mutex_);
    const auto found = upstream_sessions_.find(instance);
    if (found != upstream_sessions_.end()) return found->second;
    // Sessions with upstreams that are gone.
    std::erase_if(upstream_sessions_, [](const auto& entry) { return entry.second->retired(); });
    return upstream_sessions_.emplace(instance, make()).first->second;
  }
  std::vector<Pointer> all() {
    const std::scoped_lock lock(mutex_);
    std::vector<Pointer> all;
    all.reserve(upstream_sessions_.size());
    for (const auto& [instance, upstream_session] : upstream_sessions_)
      all.push_back(upstream_session);
    return all;
  }
  // Stores the id of the session with an upstream; nothing if another process could not continue it.
  void note(const providers::UpstreamSettings& upstream, std::optional<client::ResumedSession> session);
  // Returns what another process needs to continue all sessions; nothing if it could not.
  std::optional<std::string> state() const;
  // Takes over what another process left.
  void restore(std::string_view state);
  // Returns the session that another process left at an upstream, so that it can be continued; only once. The id of a
  // session goes to no other URL than the one that it is from.
  std::optional<client::ResumedSession> take_left(const providers::UpstreamSettings& upstream);

  const std::shared_ptr<OwnLists>& lists() const { return lists_; }
  const std::shared_ptr<SessionTasks>& tasks() const { return tasks_; }

 private:
  const std::shared_ptr<SessionTasks> tasks_ = std::make_shared<SessionTasks>();
  const std::shared_ptr<OwnLists> lists_ = std::make_shared<OwnLists>();
  std::mutex mutex_;
  std::map<std::uint64_t, Pointer> upstream_sessions_;

  mutable std::mutex held_mutex_;
  struct Held {
    std::optional<client::ResumedSession> session;
    std::string url;
    bool is_left = false;  // by another process, and not continued yet
  };
  std::map<std::string, Held, std::less<>> held_;  // by upstream
};

}  // namespace proteus::gateway
