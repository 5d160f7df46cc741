#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "gateway/testing/scripted_upstream.hpp"
#include "gateway/testing/test_gateway.hpp"
#include "net/testing/closed_port.hpp"

namespace proteus::gateway {
namespace {

using server::modern_fields;
using server::modern_meta;
using server::RawClient;
using server::rpc;
using test::Reaction;
using test::ScriptedUpstream;
using test::TestGateway;
using test::Upstream;
using test::upstream_at;
using namespace std::chrono_literals;
using Time = std::chrono::steady_clock;

constexpr int kGood = 16;
constexpr auto kDebounce = 100ms;
constexpr auto kFor = 3s;

providers::UpstreamSettings polled_often(std::string name, std::uint16_t port) {
  auto settings = upstream_at(std::move(name), port);
  settings.auto_refresh = true;
  settings.refresh_interval = 50ms;
  return settings;
}

// For upstreams that may fail. The good ones have more time, because a busy machine delays them, too.
providers::UpstreamSettings hasty(std::string name, std::uint16_t port) {
  auto settings = polled_often(std::move(name), port);
  settings.timeout = 500ms;
  return settings;
}

// Starts and stops servers on one port, each with another version.
void restart_until(const std::atomic<bool>& over, std::uint16_t port, std::atomic<int>& lives) {
  while (!over) {
    server::Server server({.name = "restarts", .version = std::to_string(++lives)});
    server
        .add_tool({.name = "tool"},
                  [](server::Context&) -> server::Outcome<server::ToolResult> { return server::ToolResult::text("x"); })
        .value();
    if (!server.listen({.port = port})) continue;
    const auto until = Time::now() + 200ms;
    while (!over && Time::now() < until)
      std::this_thread::yield();
    server.stop();
  }
}

void flap_until(const std::atomic<bool>& over, Upstream& upstream) {
  for (int i = 0; !over; ++i) {
    if (i % 2 == 0) {
      upstream.add("sometimes");
    } else {
      upstream.server.remove_tool("sometimes");
    }
    const auto until = Time::now() + 5ms;
    while (!over && Time::now() < until)
      std::this_thread::yield();
  }
}

// REF-12, REF-25, PRX-16
TEST(Crowd, FourBadUpstreamsOfTwentyHarmNobodyElse) {
  std::vector<std::unique_ptr<Upstream>> good;
  std::vector<providers::UpstreamSettings> settings;
  for (int i = 0; i < kGood; ++i) {
    good.push_back(std::make_unique<Upstream>());
    settings.push_back(polled_often("good" + std::to_string(i), good.back()->port));
  }
  ScriptedUpstream hangs([](const boost::json::object&) { return Reaction::hang(); },
                         ScriptedUpstream::Discover::scripted);
  ScriptedUpstream babbles([](const boost::json::object&) { return Reaction::body("\xff<html>{]"); });
  Upstream flaps;
  const net::test::ClosedPort reserved;
  const std::uint16_t restarts = reserved.number();
  settings.insert(settings.begin(), hasty("hangs", hangs.port()));
  auto live = hasty("babbles", babbles.port());
  live.refresh_strategy = providers::RefreshStrategy::direct_proxy;
  settings.push_back(live);
  settings.insert(settings.begin() + 5, hasty("restarts", restarts));
  settings.push_back(hasty("flaps", flaps.port));
  TestGateway gateway(settings, {.debounce = kDebounce});
  gateway.discover();

  std::atomic<bool> over = false;
  std::atomic<int> lives = 0;
  std::vector<std::thread> threads;
  threads.reserve(6);
  threads.emplace_back([&] { restart_until(over, restarts, lives); });
  threads.emplace_back([&] { flap_until(over, flaps); });

  std::atomic<int> lost = 0;
  std::atomic<int> calls = 0;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      RawClient client(gateway.port());
      for (int i = 0; !over; ++i) {
        const std::string name = fmt::format("good{}_echo", i % kGood);
        const auto answer = client.request(
            "POST", modern_fields("tools/call", name),
            rpc("1", "tools/call", fmt::format(R"("name":"{}","arguments":{{"n":{}}},{})", name, i, modern_meta())));
        ++calls;
        if (answer.status != 200 || answer.body.find(fmt::format(R"("n":{})", i)) == std::string::npos) ++lost;
      }
    });
  }
  std::atomic<std::int64_t> slowest = 0;
  std::atomic<int> short_lists = 0;
  threads.emplace_back([&] {
    while (!over) {
      const auto began = Time::now();
      const auto listed = gateway.tools().size();
      slowest = std::max(slowest.load(), std::int64_t{(Time::now() - began) / 1ms});
      if (listed < kGood) ++short_lists;
    }
  });
  std::atomic<int> told = 0;
  RawClient listener(gateway.port());
  listener.request("POST", modern_fields("subscriptions/listen"),
                   rpc("1", "subscriptions/listen", R"("notifications":{"toolsListChanged":true},)" + modern_meta()));
  listener.read_event();
  threads.emplace_back([&] {
    while (const auto event = listener.read_event()) {
      if (event->data.find("list_changed") != std::string::npos) ++told;
    }
  });

  const auto began = Time::now();
  std::size_t warm = 0;
  // For at least `kFor`, and until there is enough to judge: the machine may have other things to do.
  const auto enough = [&] { return lives > 2 && calls > 100 && told > 0; };
  while (Time::now() - began < kFor || (!enough() && Time::now() - began < test::kPatience)) {
    if (warm == 0 && Time::now() - began > kFor / 3) warm = test::resident_bytes();
    std::this_thread::yield();
  }
  const std::size_t after = test::resident_bytes();
  over = true;
  gateway.gateway.end_streams();
  for (auto& thread : threads)
    thread.join();
  const auto windows = (Time::now() - began) / kDebounce;

  EXPECT_EQ(lost, 0) << "of " << calls;
  EXPECT_GT(calls, 100);
  EXPECT_EQ(short_lists, 0);
  EXPECT_LT(slowest, test::kPatience / 1ms);
  EXPECT_GT(lives, 2);
  EXPECT_GT(told, 0);
  EXPECT_LE(told, windows + 2);
  if (!test::kSanitized) {
    EXPECT_LT(after, warm + (std::size_t{64} << 20U));
  }
}

}  // namespace
}  // namespace proteus::gateway
