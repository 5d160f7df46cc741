#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/sealing.hpp"
#include "base/stranger_log.hpp"
#include "base/task_group.hpp"
#include "client/connection/connection.hpp"
#include "gateway/upstreams/upstreams.hpp"
#include "net/http_client/http_client.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// The sessions with legacy upstreams over HTTP in which calls were parked. They are kept in the store, because a
// process that is killed cannot end what runs at an upstream: the next one ends the session, and everything in it. A
// session costs one write, when a call is first parked in it; calls that are not parked cost nothing.
//
// Belongs to the thread of the context, apart from what is said to be thread-safe.
class ParkedSessions {
 public:
  // Everything given outlives it. `self` is this process among others that share the store; empty where none do.
  ParkedSessions(boost::asio::io_context& io, store::Store& store, SealingKey key, std::string self = {});

  // Thread-safe; called on the thread of the connection. Ends when the session is kept, or cannot be.
  Task<> keep(ServedUpstream upstream, std::shared_ptr<client::Connection> connection);
  // Whether a process has been away for so long that what it left is ended. Late rather than wrong: one that only stood
  // still goes on with its sessions.
  static bool is_gone(const store::MemberRecord& member) { return member.unseen >= std::chrono::minutes(1); }
  // Ends what processes left that are gone, in the background, at those of these upstreams that are where they were.
  // What cannot be reached is tried again for a while. Of several processes that do this at once, one ends it.
  void end_left(std::shared_ptr<const UpstreamTable> upstreams, net::HttpClient& http);
  // Forgets sessions that have ended since.
  Task<> tidy();
  // Ends what is under way; keeping still works.
  Task<> stop();

 private:
  struct Session {
    std::string key;  // of its setting; empty for a new one
    std::string upstream;
    std::string url;
    client::HttpSession session;
    std::weak_ptr<client::Connection> connection;  // of this process
    bool left = false;                             // by an earlier one, or another
    bool ending = false;                           // at the upstream, just now

    std::size_t bytes() const { return upstream.size() + url.size() + session.id.size() + 100; }
  };

  Task<> add(Session session);
  Task<> run_left(std::shared_ptr<const UpstreamTable> upstreams, net::HttpClient& http);
  Task<> read_left();
  Task<> end_at(ServedUpstream upstream, net::HttpClient& http);
  std::vector<Session> read(const store::Setting& setting) const;
  // Makes it one of this process, unless another has.
  Task<> claim(store::Setting setting);
  std::string prefix_of(const std::string& process) const;
  // Where keys of those begin that are there, this one among them.
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
  std::set<std::string> kept_;  // the keys of the settings that are in the store
  std::size_t bytes_ = 0;
  std::uint64_t wanted_ = 0;
  std::uint64_t written_ = 0;
  bool writing_ = false;
  Bell wrote_;
  TaskGroup tasks_;
};

}  // namespace proteus::gateway
