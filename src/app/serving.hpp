#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <proteus/error.hpp>

#include "app/config/config.hpp"
#include "base/environment.hpp"
#include "gateway/gateway.hpp"
#include "net/http_server.hpp"
#include "net/workers.hpp"
#include "store/data_directory.hpp"
#include "store/store.hpp"

namespace proteus::app {

// A running gateway, made from a configuration. Belongs to the thread that made it.
class Serving {
 public:
  // Takes the data directory, discovers upstreams and serves. Fails where something that must be there is not.
  static Result<std::unique_ptr<Serving>> start(Config config, Environment environment);
  // Ends at once, unless `drain` has.
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  // Where clients find it.
  std::string url() const;
  gateway::Gateway& gateway() { return *gateway_; }

  // Takes over what can change without a restart; says in the log what cannot.
  Result<> reload(Config config);
  // No new work; what runs may finish within the grace time.
  void drain();

 private:
  Serving(Config config, Environment environment);

  Result<> open();
  Result<> listen();
  void apply_access();
  gateway::GatewayOptions options() const;
  Task<> route(net::Exchange& exchange);

  Config config_;
  const Environment environment_;
  SystemClock clock_;
  std::optional<store::DataDirectory> directory_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<net::Workers> workers_;
  std::unique_ptr<gateway::Gateway> gateway_;
  std::unique_ptr<net::HttpServer> server_;
  std::atomic<bool> ready_ = false;
  bool drained_ = false;
};

}  // namespace proteus::app
