#pragma once

#include <fstream>
#include <future>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <proteus/server.hpp>
#include <unistd.h>

#include "gateway/core/gateway.hpp"
#include "net/http_server/http_server.hpp"
#include "server/testing/raw_client.hpp"
#include "server/testing/test_server.hpp"
#include "store/memory_store.hpp"

// For tests: a whole gateway in this process, behind a real socket.
namespace proteus::gateway::test {

using server::RawClient;
using namespace std::chrono_literals;

// Long enough for the slowest machine; only a test that would hang reaches it.
inline constexpr std::chrono::seconds kPatience{60};

template <class Done>
void wait_until(Done&& done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("what the test waits for did not happen");
    std::this_thread::yield();
  }
}

// Sanitizers keep freed memory and slow everything down.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

inline std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

inline std::string bearer(std::string_view token) { return fmt::format("Authorization: Bearer {}\r\n", token); }

inline providers::UpstreamSettings upstream_at(std::string name, std::uint16_t port) {
  providers::UpstreamSettings settings;
  settings.name = std::move(name);
  settings.url = fmt::format("http://127.0.0.1:{}/mcp", port);
  // Tests of timeouts set shorter ones.
  settings.connect_timeout = settings.timeout = settings.call_timeout = kPatience / 2;
  return settings;
}

// A server whose tools return their arguments. The test names the tools.
class Upstream {
 public:
  explicit Upstream(std::vector<std::string> tools = {"echo"}, server::ServerOptions options = {}, std::uint16_t at = 0)
      : server({.name = "upstream", .version = "1"}, options) {
    for (auto& tool : tools)
      add(std::move(tool));
    port = server.listen({.port = at}).value();
  }

  void add(std::string tool, std::string description = "Echoes") {
    server
        .add_tool({.name = std::move(tool), .description = std::move(description)},
                  [](server::Context& context) -> server::Outcome<server::ToolResult> {
                    return server::ToolResult::json(context.arguments());
                  })
        .value();
  }

  server::Server server;
  std::uint16_t port = 0;
};

class TestGateway {
 public:
  struct Setup {
    std::vector<PrincipalSettings> principals = {};
    std::chrono::milliseconds debounce = 1ms;
    std::size_t page_size = 1000;
    std::size_t workers = 2;
    store::Store* store = nullptr;
    Environment environment = fixed_environment({});
    QuotaLimits quotas = {};
    catalog::Manifests manifests = {};
    ParkingLimits parking = {};
    std::size_t sessions = 10'000;
    RememberedListsLimits remembered = {};
    ProgramLimits programs = {};
    std::chrono::seconds session_idle = 30min;
    const Clock* clock = nullptr;                 // null: the system clock
    cluster::Leases* leases = nullptr;            // of one of several processes
    std::function<Locals(Gateway&)> locals = {};  // makes the local providers
  };

  explicit TestGateway(std::vector<providers::UpstreamSettings> upstreams)
      : TestGateway(std::move(upstreams), Setup{}) {}
  TestGateway(std::vector<providers::UpstreamSettings> upstreams, Setup setup)
      : clock_(setup.clock != nullptr ? *setup.clock : own_clock_),
        store_(setup.store != nullptr ? *setup.store : own_store_),
        workers_(setup.workers),
        gateway(workers_, clock_, setup.environment, store_, SealingKey::random(), options(setup)),
        server_(workers_, {}, [this](net::Exchange& exchange) { return gateway.handle(exchange); }) {
    gateway.set_on_refreshed([this](const providers::RefreshResult& result, const catalog::Publication*) {
      const std::scoped_lock lock(mutex_);
      refreshes_.push_back(result);
    });
    if (setup.locals) gateway.set_locals(setup.locals(gateway));
    workers_.run();
    gateway.set_access({std::make_shared<const Principals>(
                            setup.principals, setup.principals.empty() ? Anonymous::served : Anonymous::refused),
                        catalog::Contexts::make(setup.manifests)});
    set(std::move(upstreams)).value();
    if (const auto listening = server_.listen(); !listening) throw std::runtime_error(listening.error().message());
  }
  ~TestGateway() {
    gateway.end_streams();
    server_.stop();
    gateway.stop();
  }

  std::uint16_t port() const { return server_.local_port(); }

  template <class T>
  std::future<T> begin(Task<T> task) {
    return boost::asio::co_spawn(workers_.at(0), std::move(task), boost::asio::use_future);
  }
  template <class T>
  T run(Task<T> task) {
    return begin(std::move(task)).get();
  }
  Result<> set(std::vector<providers::UpstreamSettings> upstreams) {
    return run(gateway.set_upstreams(std::move(upstreams)));
  }
  // Returns when each upstream was tried once.
  void discover() { run(gateway.started()).value(); }
  std::shared_ptr<providers::Upstream> upstream(const std::string& name) {
    const auto table = gateway.upstreams();
    return table->find(name)->upstream;
  }
  providers::RefreshResult refresh(const std::string& name) { return run(upstream(name)->refresh()); }
  providers::UpstreamStatus status(const std::string& name) { return upstream(name)->status(); }
  std::vector<providers::RefreshResult> refreshes() {
    const std::scoped_lock lock(mutex_);
    return refreshes_;
  }

  // Keeps the principals and replaces the contexts.
  void reload(const catalog::Manifests& manifests, catalog::TypesOf types = {}) {
    const auto before = gateway.access();
    gateway.set_access(
        {before->principals, catalog::Contexts::make(manifests, std::move(types), before->contexts.get())});
  }

  boost::json::value ask(std::string_view method, std::string_view members = {}, std::string_view name = {},
                         std::string_view fields = {}, std::string_view meta = {}) {
    return ask_at("/mcp", method, members, name, fields, meta);
  }
  boost::json::value ask_at(std::string_view path, std::string_view method, std::string_view members = {},
                            std::string_view name = {}, std::string_view fields = {}, std::string_view meta = {}) {
    RawClient client(port(), std::string(path));
    const std::string separated = members.empty() ? "" : fmt::format("{},", members);
    const auto answer = client.request("POST", server::modern_fields(method, name) + std::string(fields),
                                       server::rpc("1", method, separated + server::modern_meta("{}", meta)));
    return answer.json();
  }
  boost::json::value call(std::string_view name, std::string_view arguments = "{}", std::string_view fields = {},
                          std::string_view meta = {}) {
    return ask("tools/call", fmt::format(R"("name":"{}","arguments":{})", name, arguments), name, fields, meta);
  }
  std::vector<std::string> tools(std::string_view fields = {}, std::string_view meta = {}) {
    std::vector<std::string> names;
    std::string cursor;
    do {
      const auto page = ask("tools/list", cursor, {}, fields, meta).at("result");
      for (const auto& tool : page.at("tools").as_array())
        names.emplace_back(tool.at("name").as_string());
      const auto* next = page.as_object().if_contains("nextCursor");
      cursor = next != nullptr ? fmt::format(R"("cursor":"{}")", std::string_view(next->as_string())) : "";
    } while (!cursor.empty());
    return names;
  }

 private:
  static GatewayOptions options(const Setup& setup) {
    GatewayOptions options;
    options.service.server_info = R"({"name":"gateway","version":"1"})";
    options.service.page_size = setup.page_size;
    options.service.parking = setup.parking;
    options.service.remembered = setup.remembered;
    options.endpoint.sessions.sessions = setup.sessions;
    options.endpoint.sessions.idle = setup.session_idle;
    options.programs = setup.programs;
    options.debounce = setup.debounce;
    options.quotas = setup.quotas;
    options.leases = setup.leases;
    options.upstreams.debounce = setup.debounce;
    options.upstreams.first_retry = 10ms;
    options.upstreams.last_retry = 50ms;
    options.chance = [] { return 0.5; };
    return options;
  }

  SystemClock own_clock_;
  const Clock& clock_;
  store::MemoryStore own_store_{{}};
  store::Store& store_;
  net::Workers workers_;
  std::mutex mutex_;
  std::vector<providers::RefreshResult> refreshes_;

 public:
  Gateway gateway;

 private:
  net::HttpServer server_;
};

}  // namespace proteus::gateway::test
