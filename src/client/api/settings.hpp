#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
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

// Returns a member that is a string; empty for any other.
std::string text_member(const boost::json::object& object, std::string_view key);

// Returns the members of an object as JSON text, without the braces of the object.
std::string members_of(const boost::json::object& object);

// Returns the value itself, or that of its environment variable. Fails if the value is empty or its variable unset.
Result<std::string> value_of(const Auth::Value& value);

// Returns options with the proxies of the environment and, if `ca_file` is not empty, the authorities in that file.
Result<net::HttpClientOptions> client_http_options(const std::string& ca_file);

// The settings that a builder collects.
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
  std::vector<std::string> pass_environment;  // variables that a descriptor names
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

  // See McpServer. A descriptor contains no handlers.
  boost::json::object descriptor() const;
  static Result<Settings> from_descriptor(const boost::json::object& descriptor);
  static const json::Binding<Settings>& binding();

  // Returns the URL or the program.
  std::string name() const { return command.empty() ? url : command.front(); }

  // Return the settings in the form that a connection takes. Fail if a setting is unusable.
  Result<Endpoint> endpoint() const;
  Result<net::HttpClientOptions> http_options() const;
  Result<Options> options() const;
  // Returns nothing unless the credentials come from OAuth.
  Result<std::optional<OAuthOptions>> oauth(const net::Url& endpoint, const std::shared_ptr<CallbackThread>& thread,
                                            const std::weak_ptr<boost::asio::io_context>& io) const;
  HostSettings host() const;
  // Adds handlers that run on `thread` and deliver their results on `io`.
  void add_handlers(Options& options, const std::shared_ptr<CallbackThread>& thread,
                    const std::weak_ptr<boost::asio::io_context>& io) const;
};

}  // namespace proteus::client
