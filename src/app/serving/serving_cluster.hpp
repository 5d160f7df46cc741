#pragma once

#include <boost/asio/io_context.hpp>

#include "app/serving/serving.hpp"
#include "cluster/leases.hpp"
#include "cluster/member.hpp"
#include "cluster/peers/peer_links.hpp"
#include "cluster/peers/roster.hpp"
#include "server/core/session_ids.hpp"
#include "server/http/other_processes.hpp"

namespace proteus::app {

struct Serving::Cluster final : server::OtherProcesses {
  // Everything that the serving has already outlives it.
  Cluster(Serving& serving, boost::asio::io_context& control);

  cluster::Member member;
  cluster::Leases leases;
  const ProcessKey self;
  const server::SessionIds session_ids;
  cluster::Roster roster;
  cluster::PeerLinks links;
  bool joined = false;

  Task<Result<Relayed>> relay(net::Exchange& exchange, ProcessKey to) override;
  Task<Result<bool>> lives(ProcessKey process) override { return roster.lives(std::move(process)); }
};

}  // namespace proteus::app
