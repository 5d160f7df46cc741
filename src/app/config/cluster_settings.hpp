#pragma once

#include <optional>
#include <string>

#include "app/config/listen_address.hpp"
#include "base/secrets/secret.hpp"
#include "json/binding.hpp"

namespace proteus::app {

// [cluster]
struct ClusterSettings {
  std::string store_env = "PROTEUS_STORE";
  std::string redis_env = "PROTEUS_REDIS";
  std::string name;  // empty: host name and process id
  std::optional<ListenAddress> peer_listen;
  std::string peer_url;      // empty: the address of `peer_listen`
  bool enabled = false;      // whether the file has the table; not a key
  Secret store;              // value of the variable `store_env`; not a key
  bool redis_named = false;  // whether the file sets `redis_env`; not a key
  Secret redis;              // value of the variable `redis_env`; not a key

  friend bool operator==(const ClusterSettings&, const ClusterSettings&) = default;
};

const json::Binding<ClusterSettings>& cluster_binding();

}  // namespace proteus::app
