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

// Counts the running requests that other processes have relayed. Thread-safe.
class PeerRequests {
 public:
  // Counts one request while it exists.
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

  // Blocks until the requests that run now have ended, or until `until`; ignores later ones. May be called once.
  void wait_for_present(Clock::Monotonic until);

 private:
  std::size_t begin();
  void end(std::size_t turn);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t turn_ = 0;
  std::array<int, 2> counts_{};  // begun before `wait_for_present`, and since
};

struct Serving::Cluster final : server::OtherProcesses {
  // Whatever `serving` has already made must outlive this object.
  Cluster(Serving& serving, boost::asio::io_context& control);

  // Publishes the current facts of this process and compares them with the others'. On the control thread.
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
  std::atomic<bool> serves = false;  // whether requests of peers are accepted

  Task<Result<Relayed>> relay(net::Exchange& exchange, ProcessKey to) override;
  Task<Result<bool>> lives(ProcessKey process) override { return roster.lives(std::move(process)); }
  bool doubt_us() const override { return member.is_in_doubt(); }
  std::vector<ProcessKey> living() const override;
};

}  // namespace proteus::app
