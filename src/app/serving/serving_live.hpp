#pragma once

#include <boost/asio/io_context.hpp>

#include "app/serving/serving.hpp"
#include "live/redis_event_store.hpp"
#include "live/redis_session_records.hpp"
#include "live/session_upkeep.hpp"
#include "redis/client.hpp"

namespace proteus::app {

struct Serving::Live {
  // Whatever `serving` has already made must outlive this object.
  Live(Serving& serving, boost::asio::io_context& control, redis::RedisUrl url);

  redis::Client client;
  live::RedisEventStore events;
  live::RedisSessionRecords records;
  std::optional<live::SessionUpkeep> upkeep;  // set while the gateway exists
  bool started = false;
};

}  // namespace proteus::app
