#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <future>
#include <mutex>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <poll.h>
#include <proteus/server_async.hpp>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log/log.hpp"
#include "net/http_server/http_server.hpp"
#include "net/io/workers.hpp"
#include "server/api/registered_service.hpp"
#include "server/http/http_endpoint.hpp"
#include "server/stdio/stdio_endpoint.hpp"
#include "server/stdio/stdio_pipes.hpp"

namespace proteus::server {

namespace asio = boost::asio;

class Server::Core {
 public:
  Core(const ServerInfo& info, const ServerOptions& options)
      : eras_{options.legacy, options.modern},
        key_(options.secret.empty() ? SealingKey::random() : SealingKey::derive(options.secret, "request state")),
        service_(info, options, listeners_) {}
  ~Core() { stop(); }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  RegisteredService& service() { return service_; }
  Listeners& listeners() { return listeners_; }

  Result<std::uint16_t> listen(const HttpOptions& options);
  Result<> serve_stdio();
  void wait();
  void stop();

 private:
  struct Serving {
    std::string path;
    std::chrono::milliseconds grace{};
    std::unique_ptr<HttpEndpoint> endpoint;
    std::unique_ptr<net::Workers> workers;
    std::unique_ptr<net::HttpServer> server;
  };

  static Task<> not_found(net::Exchange& exchange);

  const mcp::Eras eras_;
  const SealingKey key_;
  SystemClock clock_;
  Listeners listeners_;
  RegisteredService service_;
  StdioPipes pipes_;

  std::mutex mutex_;
  std::condition_variable stopped_changed_;
  bool stopped_ = false;
  std::vector<Serving> serving_;
};

Task<> Server::Core::not_found(net::Exchange& exchange) {
  co_await exchange.reply({.status = 404, .content_type = "text/plain"},
                          std::string_view("There is nothing at this path.\n"));
}

Result<std::uint16_t> Server::Core::listen(const HttpOptions& options) {
  HttpEndpointOptions endpoint_options;
  endpoint_options.eras = eras_;
  endpoint_options.hosts = {is_loopback_name(options.host), options.allowed_origins, options.allowed_hosts};
  if (options.authenticate) {
    endpoint_options.doorkeeper.look =
        [authenticate = options.authenticate](const net::Request& request) -> std::optional<Admission> {
      auto principal = authenticate(request.fields().find("Authorization").value_or(""));
      if (!principal) return std::unexpected(Refusal(std::move(principal.error())));
      return Caller{std::move(*principal)};
    };
  }
  net::HttpServerOptions server_options;
  server_options.address = options.host == "localhost" ? "127.0.0.1" : options.host;
  server_options.port = options.port;
  server_options.limits.body_bytes = options.max_body;
  if (!options.certificate.empty() || !options.key.empty()) {
    auto tls = net::TlsContext::server(options.certificate, options.key);
    if (!tls) return std::unexpected(tls.error());
    server_options.tls = std::move(*tls);
  }

  Serving serving;
  serving.path = options.path;
  serving.grace = options.grace;
  serving.endpoint = std::make_unique<HttpEndpoint>(service_, listeners_, clock_, key_, std::move(endpoint_options));
  serving.workers = std::make_unique<net::Workers>(std::max<std::size_t>(options.threads, 1));
  serving.server = std::make_unique<net::HttpServer>(
      *serving.workers, std::move(server_options),
      [endpoint = serving.endpoint.get(), path = options.path, old = options.old_sse_path](net::Exchange& exchange) {
        const std::string_view asked = exchange.request().path();
        if (asked == path) return endpoint->handle(exchange);
        return !old.empty() && asked == old ? endpoint->handle_old_sse(exchange) : not_found(exchange);
      });
  serving.workers->run();
  if (auto listening = serving.server->listen(); !listening) return std::unexpected(listening.error());
  const std::uint16_t port = serving.server->local_port();
  const std::scoped_lock lock(mutex_);
  serving_.push_back(std::move(serving));
  return port;
}

Result<> Server::Core::serve_stdio() {
  net::Workers workers(1);
  workers.run();
  auto& io = workers.at(0);
  StdioEndpoint endpoint(service_, listeners_, clock_, key_, {.eras = eras_}, io.get_executor(),
                         [this](std::string line) { return pipes_.write(std::move(line)); });
  auto served = serve(endpoint, pipes_, io, HttpOptions{}.grace);
  workers.stop();
  workers.join();
  return served;
}

void Server::Core::wait() {
  std::unique_lock lock(mutex_);
  stopped_changed_.wait(lock, [this] { return stopped_; });
}

void Server::Core::stop() {
  std::vector<Serving> serving;
  {
    const std::scoped_lock lock(mutex_);
    serving = std::move(serving_);
    serving_.clear();
  }
  pipes_.interrupt();
  for (auto& each : serving) {
    drain(*each.server, *each.workers, *each.endpoint, each.grace);
    each.server.reset();
    // The stream of a session that began meanwhile has a timer that belongs to the workers, so it ends before they do.
    each.endpoint->end_streams();
    each.workers->stop();
    each.workers->join();
  }
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  stopped_changed_.notify_all();
}

Server::Server(ServerInfo info, ServerOptions options) : core_(std::make_unique<Core>(info, options)) {}
Server::~Server() = default;

Result<> Server::add_tool(Tool tool, ToolHandler handler) {
  return core_->service().add_tool(tool, std::move(handler));
}
Result<> Server::add_raw_tool(Tool tool, RawToolHandler handler) {
  return core_->service().add_tool(tool, std::move(handler));
}
Result<> Server::add_prompt(Prompt prompt, PromptHandler handler) {
  return core_->service().add_prompt(prompt, std::move(handler));
}
Result<> Server::add_resource(Resource resource, ResourceHandler handler) {
  return core_->service().add_resource(resource, std::move(handler));
}
Result<> Server::add_resource_template(ResourceTemplate resource_template, ResourceHandler handler) {
  return core_->service().add_template(resource_template, std::move(handler));
}
void Server::add_completion(std::string prompt_or_template, std::string argument, CompletionHandler handler) {
  core_->service().add_completion(std::move(prompt_or_template), std::move(argument), std::move(handler));
}
bool Server::remove_tool(std::string_view name) { return core_->service().remove_tool(name); }
bool Server::remove_prompt(std::string_view name) { return core_->service().remove_prompt(name); }
bool Server::remove_resource(std::string_view uri) { return core_->service().remove_resource(uri); }
bool Server::remove_resource_template(std::string_view uri_template) {
  return core_->service().remove_template(uri_template);
}
void Server::tools_changed(std::string_view principal) {
  core_->listeners().list_changed_for(std::string(principal), mcp::Method::tools_changed);
}
void Server::resource_updated(std::string_view uri) { core_->listeners().resource_updated(uri); }
Result<std::uint16_t> Server::listen(HttpOptions options) { return core_->listen(options); }
Result<> Server::serve_stdio() { return core_->serve_stdio(); }
void Server::wait() { core_->wait(); }
void Server::stop() { core_->stop(); }

Result<> add_async_tool(Server& server, Tool tool, AsyncHandler<ToolResult> handler) {
  return server.core().service().add_tool(tool, std::move(handler));
}
Result<> add_async_prompt(Server& server, Prompt prompt, AsyncHandler<PromptResult> handler) {
  return server.core().service().add_prompt(prompt, std::move(handler));
}
Result<> add_async_resource(Server& server, Resource resource, AsyncHandler<ResourceResult> handler) {
  return server.core().service().add_resource(resource, std::move(handler));
}
Result<> add_async_resource_template(Server& server, ResourceTemplate resource_template,
                                     AsyncHandler<ResourceResult> handler) {
  return server.core().service().add_template(resource_template, std::move(handler));
}

}  // namespace proteus::server
