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

// The sessions with legacy upstreams that one client's session has: what an upstream keeps for a session is kept for
// this client alone. Goes with the client's session. Thread-safe.
class UpstreamSessionsOfClient {
 public:
  // Those of a session; made where there are none.
  static std::shared_ptr<UpstreamSessionsOfClient> of(server::Session& session) {
    return std::static_pointer_cast<UpstreamSessionsOfClient>(session.attachment(
        [] { return std::static_pointer_cast<void>(std::make_shared<UpstreamSessionsOfClient>()); }));
  }
  // The same; null where there are none.
  static std::shared_ptr<UpstreamSessionsOfClient> find(server::Session& session) {
    return std::static_pointer_cast<UpstreamSessionsOfClient>(session.attachment());
  }

  using Line = std::shared_ptr<UpstreamSession>;
  // The one there is to an upstream, or what `make` makes.
  Line get(std::uint64_t instance, const std::function<Line()>& make) {
    const std::scoped_lock lock(mutex_);
    const auto found = lines_.find(instance);
    if (found != lines_.end()) return found->second;
    // Those to upstreams that are no longer there.
    std::erase_if(lines_, [](const auto& entry) { return entry.second->retired(); });
    return lines_.emplace(instance, make()).first->second;
  }
  std::vector<Line> all() {
    const std::scoped_lock lock(mutex_);
    std::vector<Line> all;
    all.reserve(lines_.size());
    for (const auto& [instance, line] : lines_)
      all.push_back(line);
    return all;
  }
  // Notes the session that it has with an upstream; nothing where another process could not go on with it.
  void note(const std::string& upstream, std::optional<client::ResumedSession> session);
  // What another process needs to go on with all of them; nothing where it cannot.
  std::optional<std::string> state() const;
  // What another process left.
  void restore(std::string_view state);
  // The session that another process had with an upstream, for whoever goes on with it; once.
  std::optional<client::ResumedSession> take_left(const std::string& upstream);

  const std::shared_ptr<OwnLists>& lists() const { return lists_; }
  const std::shared_ptr<SessionTasks>& tasks() const { return tasks_; }

 private:
  const std::shared_ptr<SessionTasks> tasks_ = std::make_shared<SessionTasks>();
  const std::shared_ptr<OwnLists> lists_ = std::make_shared<OwnLists>();
  std::mutex mutex_;
  std::map<std::uint64_t, Line> lines_;

  mutable std::mutex held_mutex_;
  struct Held {
    std::optional<client::ResumedSession> session;
    bool is_left = false;  // by another process, and nobody has gone on with it yet
  };
  std::map<std::string, Held, std::less<>> held_;  // by upstream
};

}  // namespace proteus::gateway
