#pragma once

#include <boost/asio/io_context.hpp>

#include "app/serving/serving.hpp"
#include "live/redis_event_store.hpp"
#include "redis/client.hpp"

namespace proteus::app {

struct Serving::Live {
  // Everything that the serving has already outlives it.
  Live(Serving& serving, boost::asio::io_context& control, redis::RedisUrl url);

  redis::Client client;
  live::RedisEventStore events;
  bool started = false;
};

}  // namespace proteus::app
