// What a running gateway keeps in Redis, if one is configured.
#include "app/serving/serving_live.hpp"

#include <algorithm>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "app/serving/serving_cluster.hpp"

namespace proteus::app {

namespace asio = boost::asio;

namespace {

redis::ClientOptions client_options(redis::RedisUrl url) {
  redis::ClientOptions options{.url = std::move(url)};
  return options;
}

live::RedisEventStore::Options event_options(const Config& config) {
  live::RedisEventStore::Options options;
  options.limits.events_per_stream = config.sessions.events_per_stream;
  options.expiry = config.sessions.idle_timeout;
  return options;
}

live::SessionUpkeep::Options upkeep_options(const Config& config, const cluster::Member& member,
                                            live::RedisSessionRecords& records) {
  live::SessionUpkeep::Options options;
  options.every = std::min(options.every, std::chrono::milliseconds(config.sessions.idle_timeout) / 3);
  options.expiry = config.sessions.idle_timeout;
  options.is_in_doubt = [&member] { return member.is_in_doubt(); };
  options.remove_again = [&records] { return records.remove_again(); };
  return options;
}

}  // namespace

Serving::Live::Live(Serving& serving, asio::io_context& control, redis::RedisUrl url)
    : client(control, client_options(std::move(url))),
      events(client, live::LiveKeys(serving.pepper_->value()), event_options(serving.config_)),
      records(client, live::LiveKeys(serving.pepper_->value()), {.expiry = serving.config_.sessions.idle_timeout}) {}

// Redis need not be reachable yet.
Result<> Serving::open_live() {
  if (config_.cluster.redis.empty()) return {};
  auto url = redis::RedisUrl::parse(config_.cluster.redis.reveal());
  if (!url) return std::unexpected(url.error());
  live_ = std::make_unique<Live>(*this, workers_->at(0), std::move(*url));
  return {};
}

void Serving::start_live() {
  if (!live_) return;
  live_->client.start();
  live_->upkeep.emplace(workers_->at(0), gateway_->endpoint().sessions(), live_->client, cluster_->session_ids.self(),
                        upkeep_options(config_, cluster_->member, live_->records));
  live_->upkeep->start();
  live_->started = true;
}

void Serving::close_live() {
  if (!live_ || !live_->started) return;
  const auto stop = [](Live& live) -> Task<> {
    co_await live.upkeep->stop();
    co_await live.client.stop();
  };
  asio::co_spawn(workers_->at(0), stop(*live_), asio::use_future).get();
  live_->upkeep.reset();
}

}  // namespace proteus::app
