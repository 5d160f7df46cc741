#pragma once

#include <boost/asio/io_context.hpp>

#include "app/serving/sameness.hpp"
#include "app/serving/serving.hpp"
#include "cluster/leases.hpp"
#include "cluster/member.hpp"

namespace proteus::app {

struct Serving::Cluster {
  // Everything that the serving has already outlives it.
  Cluster(Serving& serving, boost::asio::io_context& control);

  // On the control thread: what this process is like now, beside the others.
  void compare(const std::vector<store::MemberRecord>& members, const gateway::DatasetState& datasets);

  Traits traits;
  Sameness sameness;
  cluster::Member member;
  cluster::Leases leases;
  bool joined = false;
};

}  // namespace proteus::app
