#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include <boost/asio/io_context.hpp>

#include "app/serving/sameness.hpp"
#include "app/serving/serving.hpp"
#include "cluster/leases.hpp"
#include "cluster/member.hpp"
#include "cluster/peers/peer_links.hpp"
#include "cluster/peers/roster.hpp"
#include "server/core/session_ids.hpp"
#include "server/http/other_processes.hpp"

namespace proteus::app {

// How many requests are under way that other processes have passed on. Thread-safe.
class PeerRequests {
 public:
  // Counts one for as long as it is there.
  class One {
   public:
    explicit One(PeerRequests& all) : all_(all), turn_(all_.begin()) {}
    ~One() { all_.end(turn_); }
    One(const One&) = delete;
    One& operator=(const One&) = delete;

   private:
    PeerRequests& all_;
    const std::size_t turn_;
  };

  // Blocks until those that are there have ended, but no longer than until then; others may come and go meanwhile.
  // Once.
  void wait_for_present(Clock::Monotonic until);

 private:
  std::size_t begin();
  void end(std::size_t turn);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t turn_ = 0;
  std::array<int, 2> counts_{};  // before that wait, and since
};

struct Serving::Cluster final : server::OtherProcesses {
  // Everything that the serving has already outlives it.
  Cluster(Serving& serving, boost::asio::io_context& control);

  // On the control thread: what this process is like now, beside the others.
  void compare(const std::vector<store::MemberRecord>& members, const gateway::DatasetState& datasets);

  Traits traits;
  Sameness sameness;
  cluster::Member member;
  cluster::Leases leases;
  const ProcessKey self;
  const server::SessionIds session_ids;
  cluster::Roster roster;
  cluster::PeerLinks links;
  PeerRequests requests;
  bool joined = false;
  std::atomic<bool> serves = false;  // and can be asked by peers

  Task<Result<Relayed>> relay(net::Exchange& exchange, ProcessKey to) override;
  Task<Result<bool>> lives(ProcessKey process) override { return roster.lives(std::move(process)); }
  bool doubt_us() const override { return member.is_in_doubt(); }
  std::vector<ProcessKey> living() const override;
};

}  // namespace proteus::app
