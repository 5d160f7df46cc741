#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <proteus/error.hpp>

#include "base/task_group.hpp"
#include "cluster/member.hpp"
#include "store/store.hpp"

namespace proteus::cluster {

// What this process does among the things that only one may do at a time: its share of them. When a process is taken
// for dead, the others take what it had. A process that wakes up after that may still believe that it has a lease: what
// it writes carries the lease's fence, and the store refuses it.
//
// Belongs to the thread of the context, apart from what is said to be thread-safe. `stop` must have ended before it is
// destroyed.
class Leases {
 public:
  // Everything outlives it.
  Leases(boost::asio::io_context& io, store::Store& store, const Member& member);

  // Called on the thread when this process gets one, or loses it.
  using OnChange = std::function<void(const std::string& name, bool held)>;
  void set_on_change(OnChange on_change) { on_change_ = std::move(on_change); }

  // Asked on the thread before one is left to others: whether it is just being used.
  void set_is_busy(std::function<bool(const std::string& name)> is_busy) { is_busy_ = std::move(is_busy); }

  // Called on the thread when it was looked how many processes there are.
  void set_on_live(std::function<void(std::size_t count)> on_live) { on_live_ = std::move(on_live); }
  // Called on the thread with all processes that are known, whenever it was looked.
  using OnMembers = std::function<void(const std::vector<store::MemberRecord>& members)>;
  void add_on_members(OnMembers on_members) { on_members_.push_back(std::move(on_members)); }

  // What is to be done by somebody, all of it. Takes what nobody does before this ends.
  Task<> want(std::set<std::string> names);
  // From now on what nobody does is taken, and what is too much is left to others.
  void start();
  Task<> stop();

  // Whether it still has what it had; takes what nobody does.
  Task<> look();

  // Thread-safe. Takes it from whoever has it: somebody waits here for what only its holder does.
  Task<Result<>> take(std::string name);
  // Thread-safe.
  bool holds(const std::string& name) const { return fence(name).has_value(); }
  // Thread-safe. For what is written by its holder; nothing where that is another.
  std::optional<store::Fence> fence(const std::string& name) const;
  // Thread-safe.
  std::size_t size() const;
  // This process.
  const std::string& owner() const { return member_.options().name; }

 private:
  using Held = std::map<std::string, std::uint64_t, std::less<>>;  // tokens by name

  Task<> run();
  Task<Result<>> do_take(std::string name);
  void set_held(Held held);
  void add_held(const std::vector<store::LeaseRecord>& taken);

  boost::asio::io_context& io_;
  store::Store& store_;
  const Member& member_;
  OnChange on_change_;
  std::function<bool(const std::string& name)> is_busy_ = [](const std::string&) { return false; };
  std::function<void(std::size_t count)> on_live_;
  std::vector<OnMembers> on_members_;
  std::set<std::string> wanted_;
  std::map<std::string, Clock::Monotonic> free_;  // that nobody did when last looked, and since when
  std::set<std::string> beyond_;                  // that nobody else wants: held beyond the share
  bool looking_ = false;
  std::uint64_t takes_ = 0;  // by somebody who waited for it
  TaskGroup tasks_;
  boost::asio::steady_timer timer_;
  bool stopped_ = false;

  mutable std::mutex mutex_;
  Held held_;
};

}  // namespace proteus::cluster
