#include "app/commands/admin_client.hpp"

#include <array>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>

#include "app/serving/admin_secret.hpp"
#include "app/serving/pepper_in_use.hpp"
#include "base/clock.hpp"
#include "json/text.hpp"
#include "net/http_client/http_client.hpp"

namespace proteus::app {
namespace {

constexpr std::size_t kMostBytes = std::size_t{512} << 20U;

struct Heard {
  unsigned status = 0;
  std::string body;
};

Task<Result<Heard>> send(net::HttpClient& http, const net::Url& url, std::string_view method, const Secret& secret,
                         std::string_view body) {
  const std::array fields{net::Field{"X-Admin-Secret", secret.reveal()},
                          net::Field{"Content-Type", "application/json"}};
  const net::ClientRequest request{.url = url, .method = method, .fields = fields, .body = {&body, 1}};
  auto response = co_await http.send(request);
  if (!response) co_return std::unexpected(std::move(response.error()));
  const auto read = co_await response->read_all(kMostBytes);
  if (!read) co_return std::unexpected(read.error());
  co_return Heard{response->status(), std::string(*read)};
}

// Returns the URL at which a gateway with this configuration is reachable from its own machine.
Result<std::string> local_url(const Config& config) {
  const ListenAddress& listen = config.server.listen;
  if (listen.port == 0) return std::unexpected(errors::invalid("the configuration has no port; give --server"));
  const bool anywhere = listen.host == "0.0.0.0" || listen.host == "::" || listen.host.empty();
  const std::string host = anywhere ? "127.0.0.1" : listen.host;
  return fmt::format("{}://{}:{}", config.server.tls.enabled() ? "https" : "http",
                     host.contains(':') ? fmt::format("[{}]", host) : host, listen.port);
}

Error refusal(const Heard& heard) {
  const auto problem = json::parse(heard.body);
  const auto* detail = problem && problem->is_object() ? problem->get_object().if_contains("detail") : nullptr;
  std::string message = detail != nullptr && detail->is_string()
                            ? std::string(detail->get_string())
                            : fmt::format("the gateway answered with the status {}", heard.status);
  if (heard.status == 404) return errors::not_found(std::move(message));
  if (heard.status == 401) return errors::unauthenticated(std::move(message));
  if (heard.status == 409) return errors::conflict(std::move(message));
  return errors::internal(std::move(message));
}

}  // namespace

void AdminTarget::add_options(CLI::App& command) {
  command
      .add_option("--server", server, "URL of the gateway; by default the local one that the configuration describes")
      ->type_name("URL");
  command.add_option("--config", file, "Configuration file; by default $PROTEUS_CONFIG, then ./proteus.toml")
      ->type_name("FILE");
  command.add_option("--data", data, "Data directory with the admin secret")->type_name("DIR");
}

Result<AdminClient> AdminClient::make(const AdminTarget& target) {
  const auto config = config_beside(target.file, target.data);
  if (!config) return std::unexpected(config.error());
  std::string base = target.server;
  if (base.empty()) {
    auto local = local_url(*config);
    if (!local) return std::unexpected(std::move(local.error()));
    base = std::move(*local);
  }
  auto url = net::Url::parse(base);
  if (!url) return std::unexpected(errors::invalid("--server: " + url.error().message()));
  auto secret = admin_secret_in_use(*config);
  if (!secret) return std::unexpected(std::move(secret.error()).within("the admin secret"));
  return AdminClient(std::move(*url), std::move(*secret));
}

Result<boost::json::value> AdminClient::ask(std::string_view method, const std::string& path,
                                            std::string_view body) const {
  auto url = base_.resolve(path);
  if (!url) return std::unexpected(std::move(url.error()));
  boost::asio::io_context io;
  const SystemClock clock;
  net::HttpClient http(io, clock);
  auto sent = boost::asio::co_spawn(io, send(http, *url, method, secret_, body), boost::asio::use_future);
  while (sent.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    io.run_one();
  auto heard = sent.get();
  http.close();
  io.run();
  if (!heard) return std::unexpected(std::move(heard.error()).within(fmt::format("asking {}", base_.origin())));
  if (heard->status >= 300) return std::unexpected(refusal(*heard));
  return json::parse(heard->body);
}

}  // namespace proteus::app
