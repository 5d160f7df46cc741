#pragma once

// For tests: a gateway with datasets and its admin API on a loopback port.

#include <atomic>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "admin/http/router.hpp"
#include "admin/routes/dataset_routes.hpp"
#include "datasets/mapping/mapping_directory.hpp"
#include "datasets/testing/test_database.hpp"
#include "gateway/datasets/dataset_registry.hpp"
#include "gateway/datasets/dataset_tools.hpp"
#include "gateway/testing/test_gateway.hpp"
#include "net/testing/http_test_server.hpp"
#include "server/testing/test_server.hpp"

namespace proteus::admin::test {

using boost::json::value;

// A directory of mappings, and the person who ratifies in it.
class Mappings {
 public:
  std::filesystem::path path() const { return folder_.path() / "mappings"; }
  datasets::MappingDirectory open() const { return {path(), datasets::Seals("pepper")}; }

  void ratify(std::string_view text = datasets::test::kCompanyMapping) const {
    open()
        .ratify(text, datasets::parse_mapping(text).value().mapping, "alice", std::chrono::system_clock::now())
        .value();
  }
  void revoke(std::string_view name) const { open().revoke(name, "bob", std::chrono::system_clock::now()).value(); }
  void put(std::string_view file, std::string_view text) const {
    std::filesystem::create_directories(path());
    std::ofstream(path() / file, std::ios::binary) << text;
  }
  std::string get(std::string_view file) const { return store::test::bytes_of_file(path() / file); }

 private:
  datasets::test::TemporaryDirectory folder_;
};

inline std::string mapping_called(std::string_view name, std::string_view variable = "ACME_DSN") {
  return fmt::format(
      "[dataset]\nname = \"{}\"\ndsn_env = \"{}\"\n[[entities]]\ntable = \"employees\"\ntype = \"person\"\n"
      "id_column = \"id\"\nname_column = \"name\"\n",
      name, variable);
}

class DatasetFixture {
 public:
  static constexpr std::string_view kSecret = "the admin secret";

  // `mappings` and `kept` must outlive the fixture.
  DatasetFixture(const Mappings& mappings, store::Store& kept, Environment environment,
                 std::vector<providers::UpstreamSettings> upstreams = {})
      : store(kept),
        workers(2),
        gateway(workers, clock, environment, store, SealingKey::random(), options()),
        registry({workers.at(0), store, clock, environment}, mappings.open(), gateway::Offering::always,
                 {.connections = 4, .waiting = 64, .patience = std::chrono::seconds(20)}),
        tools(std::make_shared<gateway::DatasetTools>(registry, gateway)),
        workshop({registry, store, clock, environment}),
        router(dataset_routes(registry, workshop), AdminKeys({{"admin", Secret(std::string(kSecret))}}),
               gateway.refusals()),
        server(workers, {}, [this](net::Exchange& exchange) { return route(exchange); }) {
    gateway.set_on_changed([this](const catalog::Publication&) { ++changes; });
    gateway.set_locals({tools});
    gateway.set_access({std::make_shared<const gateway::Principals>(std::vector<gateway::PrincipalSettings>{},
                                                                    gateway::Anonymous::served),
                        {}});
    workers.run();
    run(registry.load()).value();
    const bool any = !upstreams.empty();
    run(gateway.set_upstreams(std::move(upstreams))).value();
    if (any) run(gateway.started()).value();
    if (auto listening = server.listen(); !listening) throw std::runtime_error(listening.error().message());
  }
  ~DatasetFixture() {
    server.stop();
    gateway.stop();
    boost::asio::co_spawn(workers.at(0), registry.stop(), boost::asio::use_future).get();
    workers.stop();
    workers.join();
  }
  DatasetFixture(const DatasetFixture&) = delete;
  DatasetFixture& operator=(const DatasetFixture&) = delete;

  template <class T>
  T run(Task<T> task) {
    return boost::asio::co_spawn(workers.at(1), std::move(task), boost::asio::use_future).get();
  }

  // Calls a tool. Returns its result, or the error.
  value call(std::string_view tool, std::string_view arguments, std::string_view fields = {}) const {
    server::RawClient client(server.local_port());
    const auto answer = client.request(
        "POST", server::modern_fields("tools/call", tool) + std::string(fields),
        server::rpc("1", "tools/call",
                    fmt::format(R"("name":"{}","arguments":{},)", tool, arguments) + server::modern_meta()));
    const value json = answer.json();
    return json.as_object().contains("result") ? json.at("result") : json.at("error");
  }
  std::string text(std::string_view tool, std::string_view arguments, std::string_view fields = {}) const {
    const value result = call(tool, arguments, fields);
    const auto* content = result.as_object().if_contains("content");
    return std::string(content != nullptr ? content->at(0).at("text").as_string() : result.at("message").as_string());
  }
  std::string connect(std::string_view name, std::string_view fields = {}) const {
    return text("connect_dataset", fmt::format(R"({{"name":"{}"}})", name), fields);
  }
  std::vector<std::string> tool_names() const {
    server::RawClient client(server.local_port());
    const auto answer = client.request("POST", server::modern_fields("tools/list"),
                                       server::rpc("1", "tools/list", server::modern_meta()));
    std::vector<std::string> names;
    for (const auto& tool : answer.json().at("result").at("tools").as_array())
      names.emplace_back(tool.at("name").as_string());
    return names;
  }

  struct Reply {
    int status;
    value body;
  };
  Reply ask(std::string_view method, std::string_view path, std::string_view secret = kSecret) const {
    net::RawClient client(server.local_port());
    client.send(fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nX-Admin-Secret: {}\r\nContent-Length: 0\r\n\r\n",
                            method, path, server.local_port(), secret));
    const net::Answer answer = client.receive(false);
    return {answer.status, boost::json::parse(answer.body)};
  }
  value dataset(std::string_view name) const {
    const Reply reply = ask("GET", "/admin/datasets");
    for (const auto& one : reply.body.at("datasets").as_array()) {
      if (one.at("name").as_string() == name) return one;
    }
    throw std::runtime_error("there is no such dataset");
  }

  SystemClock clock;
  store::Store& store;
  net::Workers workers;
  gateway::Gateway gateway;
  gateway::DatasetRegistry registry;
  std::shared_ptr<gateway::DatasetTools> tools;
  gateway::DatasetWorkshop workshop;
  Router router;
  net::HttpServer server;
  std::atomic<int> changes = 0;  // of the catalog

 private:
  static gateway::GatewayOptions options() {
    gateway::GatewayOptions options;
    options.service.server_info = R"({"name":"proteus","version":"0"})";
    options.debounce = options.upstreams.debounce = std::chrono::milliseconds(1);
    return options;
  }
  Task<> route(net::Exchange& exchange) {
    return Router::owns(exchange.request().path()) ? router.handle(exchange) : gateway.handle(exchange);
  }
};

}  // namespace proteus::admin::test
