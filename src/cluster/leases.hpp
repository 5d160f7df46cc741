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

#include "base/tasks/task_group.hpp"
#include "cluster/member.hpp"
#include "store/store.hpp"

namespace proteus::cluster {

// The leases of this process: its share of the jobs that only one process may do at a time. If a process counts as
// dead, the others take its leases. A process that wakes up after that may still believe that it has a lease, but its
// writes carry the lease's fence, and the store rejects them.
//
// Belongs to the thread of the io_context, except for what is marked thread-safe. `stop` must complete before it is
// destroyed.
class Leases {
 public:
  // All references must outlive this object.
  Leases(boost::asio::io_context& io, store::Store& store, const Member& member);

  // Called on the thread when this process gets or loses a lease.
  using OnChange = std::function<void(const std::string& name, bool held)>;
  void set_on_change(OnChange on_change) { on_change_ = std::move(on_change); }

  // Called on the thread before a lease is left to others. Returns whether the lease is in use.
  void set_is_busy(std::function<bool(const std::string& name)> is_busy) { is_busy_ = std::move(is_busy); }

  // Called on the thread with the number of live processes, whenever it was determined.
  void set_on_live(std::function<void(std::size_t count)> on_live) { on_live_ = std::move(on_live); }
  // Called on the thread with all known processes, whenever they were read.
  using OnMembers = std::function<void(const std::vector<store::MemberRecord>& members)>;
  void add_on_members(OnMembers on_members) { on_members_.push_back(std::move(on_members)); }

  // Sets the names of all jobs that some process must do. Takes free leases before it returns, or leaves that to a
  // `look` that is already running.
  Task<> want(std::set<std::string> names);
  // Starts to look periodically.
  void start();
  Task<> stop();

  // Checks which leases this process still has, takes free ones, and releases those beyond its share. Does nothing if
  // it is already running.
  Task<> look();

  // Thread-safe. Takes a lease from its holder, so that this process can do the job at once for a caller that waits
  // here.
  Task<Result<>> take(std::string name);
  // Thread-safe.
  bool holds(const std::string& name) const { return fence(name).has_value(); }
  // Thread-safe. Returns the fence for the holder's writes; nothing if this process does not hold the lease.
  std::optional<store::Fence> fence(const std::string& name) const;
  // Thread-safe.
  std::size_t size() const;
  // Thread-safe. See Member::is_blind.
  bool is_blind() const { return member_.is_blind(); }
  // Returns the name of this process.
  const std::string& owner() const { return member_.options().name; }

 private:
  using Held = std::map<std::string, std::uint64_t, std::less<>>;  // tokens by name

  Task<> run();
  Task<> look_once();
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
  std::map<std::string, Clock::Monotonic> free_;  // leases that nobody held at the last look, and since when
  std::set<std::string> beyond_;                  // leases held beyond the share, because nobody else took them
  bool looking_ = false;
  bool is_changed_ = false;  // `want` was called since the last look began
  std::uint64_t takes_ = 0;  // completed calls of `take`
  TaskGroup tasks_;
  boost::asio::steady_timer timer_;
  bool stopped_ = false;

  mutable std::mutex mutex_;
  Held held_;
};

}  // namespace proteus::cluster
