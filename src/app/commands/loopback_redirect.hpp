#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

#include "net/http_server/http_server.hpp"
#include "net/io/workers.hpp"

namespace proteus::app {

// A local HTTP server to which the browser is redirected after a sign-in (RFC 8252, section 7.3).
class LoopbackRedirect {
 public:
  LoopbackRedirect();
  ~LoopbackRedirect();
  LoopbackRedirect(const LoopbackRedirect&) = delete;
  LoopbackRedirect& operator=(const LoopbackRedirect&) = delete;

  Result<> listen();
  // Returns the redirect URI, such as "http://127.0.0.1:49152/callback".
  std::string uri() const;

  // Accepts only requests with this state, so that no other page of the browser can end the sign-in. Must be called
  // before the browser is opened.
  void expect(std::string state);
  // Blocks until the browser arrives, and returns the URL that it requested. Fails after `patience`.
  Result<std::string> wait(std::chrono::seconds patience);

 private:
  Task<> serve(net::Exchange& exchange);
  bool take(std::string_view target);

  std::mutex mutex_;
  std::condition_variable came_;
  std::string state_;
  std::optional<std::string> led_to_;
  net::Workers workers_{1};
  net::HttpServer server_;
};

}  // namespace proteus::app
