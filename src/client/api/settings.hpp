#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <proteus/client.hpp>

#include "client/api/callback_thread.hpp"
#include "client/api/host.hpp"
#include "client/message/options.hpp"
#include "client/sign_in/oauth_authorizer.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::json {
template <class S>
class Binding;
}

namespace proteus::client {

// The members of an object as JSON text, without its braces.
std::string members_of(const boost::json::object& object);

// What it is, or what its variable holds.
Result<std::string> value_of(const Auth::Value& value);

// Proxies of the environment, and the authorities in this file where it is given.
Result<net::HttpClientOptions> client_http_options(const std::string& ca_file);

// What a builder was told.
struct McpServer::Settings {
  std::string url;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  std::string working_directory;
  std::string ca_file;
  Auth auth;
  std::vector<Header> headers;
  std::chrono::milliseconds timeout{30'000};
  std::chrono::milliseconds call_timeout{300'000};
  std::chrono::milliseconds connect_timeout{5'000};
  std::optional<Era> era;
  HttpTransport transport = HttpTransport::automatic;
  std::string client_name = "proteus";
  std::string client_version = "0.1.0";
  std::size_t max_message_bytes = std::size_t{16} << 20U;
  std::vector<std::string> pass_environment;  // variables that a descriptor named
  bool fail_fast_on_startup = true;
  bool auto_refresh = false;
  std::chrono::milliseconds refresh_interval = std::chrono::minutes(5);
  bool event_driven_refresh = true;
  unsigned max_consecutive_failures = 3;
  std::chrono::milliseconds ttl{0};
  std::chrono::milliseconds health_interval = std::chrono::seconds(30);
  unsigned circuit_failures = 5;
  std::chrono::milliseconds circuit_open = std::chrono::seconds(30);
  boost::json::object list_meta;
  ElicitationHandler on_elicitation;
  ElicitationHandler on_url_elicitation;
  SamplingHandler on_sampling;
  RootsHandler on_roots;
  std::function<void(const LogMessage&)> on_log;

  // See McpServer; a builder's handlers are in neither.
  boost::json::object descriptor() const;
  static Result<Settings> from_descriptor(const boost::json::object& descriptor);
  static const json::Binding<Settings>& binding();

  // The URL, or the program.
  std::string name() const { return command.empty() ? url : command.front(); }

  // The same for the connection below. They fail where a setting is unusable.
  Result<Endpoint> endpoint() const;
  Result<net::HttpClientOptions> http_options() const;
  Result<Options> options() const;
  // Nothing where it does not sign in.
  Result<std::optional<OAuthOptions>> oauth(const net::Url& endpoint, const std::shared_ptr<CallbackThread>& thread,
                                            const std::weak_ptr<boost::asio::io_context>& io) const;
  HostSettings host() const;
  // Handlers run on that thread, and answer to this context.
  void add_handlers(Options& options, const std::shared_ptr<CallbackThread>& thread,
                    const std::weak_ptr<boost::asio::io_context>& io) const;
};

}  // namespace proteus::client
