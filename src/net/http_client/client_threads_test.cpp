// Clients and child processes on several threads, each used by one thread: mainly for the thread sanitizer.
#include <future>

#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "net/http_client/http_client.hpp"
#include "net/http_server/http_server.hpp"
#include "net/io/workers.hpp"
#include "net/process/process.hpp"
#include "net/testing/test_run.hpp"

namespace proteus::net {
namespace {

constexpr std::size_t kThreads = 4;
constexpr int kRounds = 20;

Task<> echo_body(Exchange& exchange) {
  const std::string_view body = exchange.request().body();
  if (exchange.request().path() == "/stream") {
    co_await exchange.begin_stream({.content_type = "text/plain"});
    for (std::size_t at = 0; at < body.size(); at += 3)
      co_await exchange.write(body.substr(at, 3));
    co_return;
  }
  co_await exchange.reply({.content_type = "text/plain"}, body);
}

// Returns how many requests were echoed correctly; -1 if they did not share one connection.
Task<int> call_server(boost::asio::io_context& io, const Clock& clock, std::uint16_t port, std::size_t thread) {
  HttpClient client(io, clock);
  int right = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto url = Url::parse(fmt::format("http://127.0.0.1:{}/{}", port, round % 2 ? "stream" : "whole")).value();
    const std::string text = fmt::format("round {} of thread {}", round, thread);
    const std::string_view part = text;
    auto response = co_await client.send({.url = url, .method = "POST", .body = std::span(&part, 1)});
    if (!response) continue;
    const auto body = co_await response->read_all(1000);
    if (body && *body == text && response->has_content_type("text/plain")) ++right;
  }
  if (client.stats().opened != 1) co_return -1;
  co_return right;
}

Task<int> call_child(boost::asio::io_context& io, std::size_t thread) {
  auto child = Process::spawn(io, {.argv = {"cat"}, .environment = child_environment({})});
  if (!child) co_return -1;
  int right = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = fmt::format("round {} of thread {}", round, thread);
    const std::array<std::string_view, 2> parts = {text, "\n"};
    if (!co_await child->write(parts)) break;
    const auto line = co_await child->read_line();
    if (line && *line == text) ++right;
  }
  const ExitStatus status = co_await child->terminate();
  co_return status.code == 0 && status.signal == 0 ? right : -1;
}

TEST(ClientThreads, EachHasAClientOfItsOwn) {
  const SystemClock clock;
  Workers serving(2);
  HttpServer server(serving, {}, with_body(echo_body));
  serving.run();
  ASSERT_TRUE(server.listen());
  Workers calling(kThreads);
  std::vector<std::future<int>> outcomes;
  for (std::size_t i = 0; i < kThreads; ++i) {
    outcomes.push_back(boost::asio::co_spawn(calling.at(i), call_server(calling.at(i), clock, server.local_port(), i),
                                             boost::asio::use_future));
  }
  calling.run();
  for (auto& outcome : outcomes)
    EXPECT_EQ(outcome.get(), kRounds);
}

TEST(ClientThreads, EachHasChildrenOfItsOwn) {
  Workers calling(kThreads);
  std::vector<std::future<int>> outcomes;
  for (std::size_t i = 0; i < kThreads; ++i) {
    outcomes.push_back(boost::asio::co_spawn(calling.at(i), call_child(calling.at(i), i), boost::asio::use_future));
  }
  calling.run();
  for (auto& outcome : outcomes)
    EXPECT_EQ(outcome.get(), kRounds);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "nobody is left to wait for";
}

}  // namespace
}  // namespace proteus::net
