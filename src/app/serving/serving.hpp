#pragma once

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "admin/http/keys.hpp"
#include "app/config/config.hpp"
#include "base/settings/environment.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/operate/egress.hpp"
#include "gateway/operate/registration_rules.hpp"
#include "gateway/search/embeddings.hpp"
#include "gateway/sessions/tool_sessions.hpp"
#include "net/http_client/proxy.hpp"
#include "net/http_server/http_server.hpp"
#include "net/io/workers.hpp"
#include "server/stdio/stdio_pipes.hpp"
#include "store/data_directory.hpp"
#include "store/pepper.hpp"
#include "store/store.hpp"

namespace proteus::app {

// A running gateway, made from a configuration. Must be used only on the thread that made it.
class Serving {
 public:
  // Whether it serves HTTP clients, or a single client on standard input and output.
  enum class Front : std::uint8_t { http, stdio };
  // Locks the data directory, starts to discover upstreams, and serves. Blocks; if an upstream has
  // `fail_fast_on_startup`, until each upstream has been tried once. Fails if something required is missing.
  static Result<std::unique_ptr<Serving>> start(Config config, Environment environment, Front front = Front::http);
  // Cuts off running requests, unless `drain` was called before. Blocks.
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  // Serves the client at the pipes until it leaves; see server::serve. An empty `context` means none.
  Result<> serve(server::StdioPipes& pipes, const std::string& context = {});
  // Returns the URL for clients.
  std::string url() const;
  // Returns a single-use link that signs in on the page, for a person who starts a gateway that has no upstream yet.
  // Empty if there is an upstream, or if the program was built without the page.
  std::string first_link();

  // Returns the files of certificate and key; empty without TLS.
  std::vector<std::filesystem::path> tls_files() const;
  // Uses the present content of these files from the next handshake on. Fails, without effect, if they are unusable.
  Result<> renew_tls();
  // Applies the changes that need no restart, and logs that others do. Blocks. Fails if the upstreams cannot be loaded;
  // everything else, such as a withdrawn token, takes effect all the same. So do the file's upstreams if only the store
  // cannot be read.
  Result<> reload(Config config);
  // Tries again to load the upstreams after `reload` has failed. Blocks.
  Result<> reload_upstreams();
  // Accepts no new work, and lets running requests finish within the grace time. Blocks.
  void drain();

 private:
  Serving(Config config, Environment environment, Front front);

  // The components around the gateway. Made after it, and destroyed before it.
  struct Dependencies;
  // This process as a member of a cluster.
  struct Cluster;
  // What Redis keeps so that it outlives this process.
  struct Live;

  Result<> open();
  Result<> open_store();
  Result<> open_live();
  void start_live();
  void close_live();
  Result<> join_cluster();
  Result<> listen_for_peers();
  Task<> route_peer(net::Exchange& exchange);
  void start_following();
  void leave_cluster();
  // Applies changes of other processes; null means that anything may have changed.
  Task<Result<>> follow(const std::vector<store::FeedEntry>* changed);
  Task<Result<>> follow_everything();
  Task<std::string> settle();
  std::string describe_store() const;
  Result<> listen();
  Result<std::optional<net::TlsContext>> read_tls() const;
  std::unique_ptr<net::HttpServer> make_server(const ListenAddress& address, std::optional<net::TlsContext> tls,
                                               net::HttpHandler handler);
  void apply_access();
  void report_contexts() const;
  admin::AdminKeys admin_keys() const;
  net::EgressSettings egress() const;
  static gateway::RegistrationSettings registration(const Config& config);
  server::HostRules host_rules() const;
  // Returns the rules for operators' paths on a listener.
  server::HostRules operator_rules(const ListenAddress& address) const;
  // Returns the rules for /admin and the page.
  server::HostRules admin_rules() const;
  gateway::GatewayOptions options() const;
  gateway::ToolSessionOptions session_options() const;
  gateway::Embeddings::Dependencies embedding_dependencies() const;
  std::optional<gateway::EmbeddingEndpoint> embedding_endpoint() const;
  Task<Result<>> load_upstreams();
  Task<> become_ready();
  std::string origin() const;
  // Returns the origin of the public URL; empty if none is configured.
  std::string public_origin() const;
  net::Url public_url() const;
  Task<> reply_resource_metadata(net::Exchange& exchange);
  Task<> show_connect_page(net::Exchange& exchange);
  // Logs the redirect URIs, which operators must register with the identity providers.
  void report_sign_ins() const;
  Task<> route(net::Exchange& exchange, const server::HostRules& operators);
  Task<> route_admin(net::Exchange& exchange);
  Task<> route_ops(net::Exchange& exchange, const server::HostRules& operators);

  Config config_;
  const server::HostRules admin_rules_;
  catalog::Manifests manifests_;
  const Environment environment_;
  const Front front_;
  SystemClock clock_;
  std::optional<store::DataDirectory> directory_;
  std::optional<store::Pepper> pepper_;
  std::optional<store::Pepper> previous_pepper_;
  std::unique_ptr<store::Store> store_;
  Secret admin_secret_;
  net::ProxySettings proxies_;
  std::optional<net::TlsContext> client_tls_;
  std::unique_ptr<net::Workers> workers_;
  std::unique_ptr<gateway::Egress> egress_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Live> live_;
  std::unique_ptr<gateway::Gateway> gateway_;
  std::unique_ptr<Dependencies> dependencies_;
  std::unique_ptr<net::HttpServer> server_;
  std::unique_ptr<net::HttpServer> ops_server_;
  std::unique_ptr<net::HttpServer> peer_server_;
  bool drained_ = false;
  std::promise<void> tried_;  // set when each upstream has been tried once
};

}  // namespace proteus::app
