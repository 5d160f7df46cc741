#pragma once

#include <boost/asio/io_context.hpp>

#include "app/serving/serving.hpp"
#include "cluster/leases.hpp"
#include "cluster/member.hpp"

namespace proteus::app {

struct Serving::Cluster {
  // Everything that the serving has already outlives it.
  Cluster(Serving& serving, boost::asio::io_context& control);

  cluster::Member member;
  cluster::Leases leases;
  bool joined = false;
};

}  // namespace proteus::app
