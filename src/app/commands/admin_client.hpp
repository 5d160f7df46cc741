#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "net/http/url.hpp"

namespace CLI {
class App;
}

namespace proteus::app {

// The command-line options that select the running gateway.
struct AdminTarget {
  std::string server;  // URL, of which only scheme, host and port count; empty: from the configuration
  std::string file;
  std::string data;

  void add_options(CLI::App& command);
};

// A blocking client of the admin API of a running gateway.
class AdminClient {
 public:
  // Opens no connection. Takes the admin secret from the environment or the data directory. Fails with kind `invalid`
  // if the command line or the configuration is unusable.
  static Result<AdminClient> make(const AdminTarget& target);

  // Sends a request and waits for the answer. Returns a problem document as an error with its detail.
  Result<boost::json::value> ask(std::string_view method, const std::string& path, std::string_view body = "") const;

 private:
  AdminClient(net::Url base, Secret secret) : base_(std::move(base)), secret_(std::move(secret)) {}

  net::Url base_;
  Secret secret_;
};

}  // namespace proteus::app
