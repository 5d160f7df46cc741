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
#include "base/environment.hpp"
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

// A running gateway, made from a configuration. Belongs to the thread that made it.
class Serving {
 public:
  // Whom it serves: those who come to its address, or the one client at standard input and output.
  enum class Front : std::uint8_t { http, stdio };
  // Takes the data directory, discovers upstreams and serves. Fails where something that must be there is not.
  static Result<std::unique_ptr<Serving>> start(Config config, Environment environment, Front front = Front::http);
  // Ends at once, unless `drain` has.
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  // Serves the client at the pipes, in a context of the configuration (empty: in none). See server::serve.
  Result<> serve(server::StdioPipes& pipes, const std::string& context = {});
  // Where clients find it.
  std::string url() const;
  gateway::Gateway& gateway() { return *gateway_; }
  // A link to the page that signs in once, for whoever starts a gateway that has no upstream yet; empty where it has.
  std::string first_link();

  // The files of certificate and key, where it serves over TLS.
  std::vector<std::filesystem::path> tls_files() const;
  // Serves with what these files hold now, from the next handshake on. Fails where they cannot be served with; then
  // nothing changes.
  Result<> renew_tls();
  // Takes over what can change without a restart; says in the log what cannot.
  Result<> reload(Config config);
  // No new work; what runs may finish within the grace time.
  void drain();

 private:
  Serving(Config config, Environment environment, Front front);

  // What stands around a gateway: made with it, and gone before it.
  struct Dependencies;
  // This process among those that serve as one.
  struct Cluster;
  // What is to survive it.
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
  // What other processes changed; all of it where nothing is said.
  Task<Result<>> follow(const std::vector<store::FeedEntry>* changed);
  Task<Result<>> follow_everything();
  Task<std::string> settle();
  std::string describe_store() const;
  Result<> listen();
  Result<std::optional<net::TlsContext>> read_tls() const;
  Result<std::unique_ptr<net::HttpServer>> listen_at(const ListenAddress& address, std::optional<net::TlsContext> tls,
                                                     net::HttpHandler handler);
  void apply_access();
  void report_contexts() const;
  admin::AdminKeys admin_keys() const;
  net::EgressSettings egress() const;
  static gateway::RegistrationSettings registration(const Config& config);
  server::HostRules host_rules() const;
  // For the paths of operators at one of the addresses.
  server::HostRules operator_rules(const ListenAddress& address) const;
  // For /admin and the page.
  server::HostRules admin_rules() const;
  gateway::GatewayOptions options() const;
  gateway::ToolSessionOptions session_options() const;
  gateway::Embeddings::Dependencies embedding_dependencies() const;
  std::optional<gateway::EmbeddingEndpoint> embedding_endpoint() const;
  Task<Result<>> load_upstreams();
  Task<> become_ready();
  std::string origin() const;
  // Of the public URL; empty where none is configured.
  std::string public_origin() const;
  net::Url public_url() const;
  Task<> reply_resource_metadata(net::Exchange& exchange);
  Task<> show_connect_page(net::Exchange& exchange);
  // Operators have to tell identity providers where people come back to.
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
  std::promise<void> tried_;  // each upstream, once
};

}  // namespace proteus::app
