// Checks what [cluster] needs besides its own keys, and reads its secrets.
#include <filesystem>
#include <tuple>

#include <fmt/format.h>

#include "app/config/source_reader.hpp"
#include "redis/redis_url.hpp"

namespace proteus::app {
namespace {

using json::Place;

void take_store(Config& config, CrossCheck& check) {
  if (!config.cluster.enabled) return;
  const Place root(check.purpose == Purpose::serve ? check.faults : check.warnings);
  const Place cluster = root.member("cluster");
  auto value = check.environment(config.cluster.store_env);
  if (!value || value->empty()) {
    cluster.member("store_env").fault(unset(config.cluster.store_env));
  } else {
    config.cluster.store = Secret(std::move(*value));
  }
  if (!config.secrets.pepper) cluster.fault("all processes need the same PROTEUS_PEPPER, which is not set");
}

// Redis is optional: without it, client sessions end with their process.
void take_redis(Config& config, CrossCheck& check) {
  ClusterSettings& settings = config.cluster;
  if (!settings.enabled) return;
  auto value = check.environment(settings.redis_env);
  const auto at = [](json::Faults& faults, const std::string& fault) {
    const Place root(faults);
    const Place cluster = root.member("cluster");
    cluster.member("redis_env").fault(fault);
  };
  if (!value || value->empty()) {
    if (settings.redis_named)
      at(check.purpose == Purpose::serve ? check.faults : check.warnings, unset(settings.redis_env));
    return;
  }
  settings.redis = Secret(std::move(*value));
  const auto url = redis::RedisUrl::parse(settings.redis.reveal());
  if (!url) return at(check.faults, fmt::format("{}: {}", settings.redis_env, url.error().message()));
  std::error_code ignored;
  if (!url->authorities.empty() && !std::filesystem::is_regular_file(url->authorities, ignored))
    at(check.faults, fmt::format("{}: there is no file {}", settings.redis_env, url->authorities.string()));
}

void check_peers(const Config& config, CrossCheck& check) {
  const Place root(check.faults);
  const Place cluster = root.member("cluster");
  const auto& [listen, url] = std::tie(config.cluster.peer_listen, config.cluster.peer_url);
  if (!url.empty() && !listen) cluster.member("peer_url").fault("needs peer_listen");
  if (!listen) return;
  // The machine that checks a file may lack PROTEUS_PEER_URL, which can set the URL.
  const Place later(check.purpose == Purpose::serve ? check.faults : check.warnings);
  if (url.empty() && (listen->host == "0.0.0.0" || listen->host == "::")) {
    later.member("cluster")
        .member("peer_url")
        .fault("is missing: other processes cannot tell which of all addresses to connect to");
  }
  if (*listen == config.server.listen && listen->port != 0)
    cluster.member("peer_listen").fault("is the same address as server.listen");
}

}  // namespace

void check_cluster(Config& config, CrossCheck& check) {
  take_store(config, check);
  take_redis(config, check);
  check_peers(config, check);
}

}  // namespace proteus::app
