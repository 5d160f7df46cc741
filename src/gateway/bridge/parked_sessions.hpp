#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/log/stranger_log.hpp"
#include "base/secrets/sealing.hpp"
#include "base/tasks/task_group.hpp"
#include "client/connection/connection.hpp"
#include "gateway/upstreams/upstreams.hpp"
#include "net/http_client/http_client.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// The sessions with legacy upstreams over HTTP in which calls were parked. The store has their ids, because a process
// that is killed cannot end what runs at an upstream: the next process ends the session and everything in it. A session
// costs one write, when a call is first parked in it; calls that are not parked cost nothing.
//
// Belongs to the thread of the context, except for functions that are marked thread-safe.
class ParkedSessions {
 public:
  // Everything passed must outlive this. `self` names this process among those that share the store; empty if there is
  // only one.
  ParkedSessions(boost::asio::io_context& io, store::Store& store, SealingKey key, std::string self = {});

  // Stores the session of a connection; best effort. Returns when it is stored, or cannot be. Thread-safe; called on
  // the thread of the connection.
  Task<> keep(ServedUpstream upstream, std::shared_ptr<client::Connection> connection);
  // Whether a process has been silent for so long that its sessions are ended. The time is generous, because a process
  // that was only suspended continues its sessions.
  static bool is_gone(const store::MemberRecord& member) { return member.unseen >= std::chrono::minutes(1); }
  // Ends the sessions that dead processes left at these upstreams, in the background. Forgets sessions whose upstream
  // is gone or has another URL. Retries for some minutes if an upstream cannot be reached. If several processes call
  // this at once, one of them ends each session.
  void end_left(std::shared_ptr<const UpstreamTable> upstreams, net::HttpClient& http);
  // Forgets sessions of this process that have ended.
  Task<> tidy();
  // Cancels the tasks in the background; `keep` still works afterwards.
  Task<> stop();

 private:
  struct Session {
    std::string key;  // key of its setting; empty until it gets one
    std::string upstream;
    std::string url;
    client::HttpSession session;
    std::weak_ptr<client::Connection> connection;  // if it belongs to this process; expires with it
    bool left = false;                             // by an earlier or another process
    bool ending = false;                           // whether the upstream is being asked to end it

    std::size_t bytes() const { return upstream.size() + url.size() + session.id.size() + 100; }
  };

  Task<> add(Session session);
  Task<> run_left(std::shared_ptr<const UpstreamTable> upstreams, net::HttpClient& http);
  Task<> read_left();
  Task<> end_at(ServedUpstream upstream, net::HttpClient& http);
  std::vector<Session> read(const store::Setting& setting) const;
  // Takes over a setting that a dead process left, unless another process has done so.
  Task<> claim(store::Setting setting);
  std::string prefix_of(const std::string& process) const;
  // Returns the prefixes of the settings of all living processes, this one included; none if there is only one process.
  Task<Result<std::vector<std::string>>> prefixes_of_living();
  void add_kept(Session session);
  Task<> write();
  store::Writes differences() const;
  void note_kept(const store::Writes& writes);
  std::string sealed(const Session& session) const;
  bool forget_ended();

  boost::asio::io_context& io_;
  StrangerLog lines_{"calls that wait"};
  store::Store& store_;
  const SealingKey key_;
  const std::string self_;
  std::vector<Session> sessions_;
  std::set<std::string> kept_;  // keys of the settings in the store
  std::size_t bytes_ = 0;
  std::uint64_t wanted_ = 0;
  std::uint64_t written_ = 0;
  bool writing_ = false;
  Bell wrote_;
  TaskGroup tasks_;
};

}  // namespace proteus::gateway
