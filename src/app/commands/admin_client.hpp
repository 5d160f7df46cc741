#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

#include "app/config/load.hpp"
#include "base/secret.hpp"
#include "net/http/url.hpp"

namespace CLI {
class App;
}

namespace proteus::app {

// Which running gateway a command speaks to, as far as the command line says so.
struct AdminTarget {
  std::string server;  // its URL, of which only scheme, host and port count; empty: the one of the configuration
  std::string file;
  std::string data;

  void add_options(CLI::App& command);
};

// Asks the admin API of a running gateway, and waits for the answer.
class AdminClient {
 public:
  // Opens nothing. The secret is that of the configuration, which the environment may give. Fails of kind `invalid`
  // where the command line or the configuration cannot be used.
  static Result<AdminClient> make(const AdminTarget& target);

  // A problem document becomes an error with its detail.
  Result<boost::json::value> ask(std::string_view method, const std::string& path, std::string_view body = "") const;

 private:
  AdminClient(net::Url base, Secret secret) : base_(std::move(base)), secret_(std::move(secret)) {}

  net::Url base_;
  Secret secret_;
};

}  // namespace proteus::app
