// Which connections the client opens, reuses and closes.
#include "net/http_client/http_client.hpp"
#include "net/testing/http_client_fixture.hpp"

namespace proteus::net::test {
namespace {

using namespace std::chrono_literals;

TEST_F(HttpClientTest, UsesAConnectionAgain) {
  serve({{receive(), send(kHello), receive(), send(kHello), receive(), send(kHello)}});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(get().body, "hello");
  EXPECT_EQ(server_->connections, 1U);
  EXPECT_EQ(client_->stats().opened, 1U);
  EXPECT_EQ(client_->stats().reused, 2U);
  EXPECT_EQ(client_->stats().idle, 1U);
}

TEST_F(HttpClientTest, OpensAConnectionForEachRequestUnderWay) {
  serve({{receive(), pause(), send(kHello), receive(), send(kHello)}, {receive(), send(kHello)}});
  Started first(*io_, test::fetch(*client_, {.url = server_->url()}));
  run_until(*io_, [&] { return server_->requests.size() == 1; });
  EXPECT_EQ(get().body, "hello");
  EXPECT_FALSE(first.is_done());
  server_->resume();
  EXPECT_EQ(first.finish().body, "hello");
  EXPECT_EQ(client_->stats().idle, 2U);
  EXPECT_EQ(server_->connections, 2U);
}

TEST_F(HttpClientTest, DoesNotReuseAConnectionThatTheServerCloses) {
  const std::string closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";
  serve({{receive(), send(closing), hold()}, {receive(), send(kHello)}});
  EXPECT_EQ(get().body, "hello");
  EXPECT_EQ(client_->stats().idle, 0U);
  EXPECT_EQ(get().body, "hello");
  EXPECT_EQ(server_->connections, 2U);
}

TEST_F(HttpClientTest, NoticesThatAnIdleConnectionWasClosed) {
  serve({{receive(), send(kHello)}, {receive(), send(kHello), reset()}, {receive(), send(kHello)}});
  for (std::size_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(get().fault, "");
    settle(*io_);  // lets the server close
    EXPECT_EQ(server_->connections, i);
  }
}

TEST_F(HttpClientTest, DropsAConnectionWithBytesNobodyAskedFor) {
  serve({{receive(), send(std::string(kHello) + "HTTP/1.1 200 OK\r\n\r\nforged"), hold()},
         {receive(), send(kHello), pause(), send("forged"), hold()},
         {receive(), send(kHello)}});
  EXPECT_EQ(get().body, "hello");
  EXPECT_EQ(client_->stats().idle, 0U);
  EXPECT_EQ(get().body, "hello");
  EXPECT_EQ(client_->stats().idle, 1U);
  server_->resume();
  settle(*io_);
  EXPECT_EQ(get().body, "hello");
  EXPECT_EQ(server_->connections, 3U);
}

Task<unsigned> ignore_body(HttpClient& client, Url url) {
  auto response = co_await client.send({.url = url});
  co_return response.value().status();
}

TEST_F(HttpClientTest, ClosesAConnectionWhoseBodyWasNotRead) {
  serve({{receive(), send("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\npart"), hold()}});
  EXPECT_EQ(run(*io_, ignore_body(*client_, server_->url())), 200U);
  EXPECT_EQ(client_->stats().idle, 0U);
  run_until(*io_, [&] { return server_->closed_by_client == 1; });
}

TEST_F(HttpClientTest, KeepsAConnectionWhoseUnreadBodyHadArrived) {
  serve({{receive(), send(kHello), receive(), send(kHello)}});
  EXPECT_EQ(run(*io_, ignore_body(*client_, server_->url())), 200U);
  EXPECT_EQ(get().body, "hello");
  EXPECT_EQ(server_->connections, 1U);
}

TEST_F(HttpClientTest, KeepsIdleConnectionsForALimitedTime) {
  use({.max_idle_time = 10s});
  serve({{receive(), send(kHello), hold()}});
  get();
  pass(9s);
  EXPECT_EQ(client_->stats().idle, 1U);
  pass(2s);
  EXPECT_EQ(client_->stats().idle, 0U);
  run_until(*io_, [&] { return server_->closed_by_client == 1; });
}

TEST_F(HttpClientTest, KeepsSpareMemoryForAsManyRequestsAsThereWereLately) {
  const Script script{receive(), pause(), send(kHello), receive(), send(kHello), hold()};
  serve({script, script, script});
  Started one(*io_, test::fetch(*client_, {.url = server_->url()}));
  Started two(*io_, test::fetch(*client_, {.url = server_->url()}));
  Started three(*io_, test::fetch(*client_, {.url = server_->url()}));
  run_until(*io_, [&] { return server_->requests.size() == 3; });
  for (Started<Answer>* const each : {&one, &two, &three}) {
    server_->resume();
    each->finish();
  }
  EXPECT_EQ(client_->stats().spare, 3U);
  pass(1s);
  get();
  EXPECT_EQ(client_->stats().spare, 3U);
  pass(1s);
  EXPECT_EQ(client_->stats().spare, 1U) << "one was enough";
  pass(1s);
  EXPECT_EQ(client_->stats().spare, 0U);
}

TEST_F(HttpClientTest, LeavesBeforeTheServerWouldClose) {
  serve({{receive(), send("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=9\r\nContent-Length: 0\r\n\r\n"), hold()}});
  get();
  pass(3s);
  EXPECT_EQ(client_->stats().idle, 1U);
  pass(1s);
  EXPECT_EQ(client_->stats().idle, 0U);
}

TEST_F(HttpClientTest, DoesNotReuseAConnectionThatTheServerIsAboutToClose) {
  const auto kept_for = [](unsigned seconds) {
    return fmt::format("HTTP/1.1 200 OK\r\nKeep-Alive: timeout={}\r\nContent-Length: 0\r\n\r\n", seconds);
  };
  serve({{receive(), send(kept_for(5)), hold()},
         {receive(), send(kept_for(1)), hold()},
         {receive(), send(kept_for(0)), hold()},
         {receive(), send(kept_for(0)), hold()}});
  get();
  clock_.advance(4s);  // and the next sweep is still to come
  for (std::size_t connections = 2; connections <= 4; ++connections) {
    get();
    EXPECT_EQ(server_->connections, connections);
  }
}

TEST_F(HttpClientTest, KeepsALimitedNumberOfIdleConnections) {
  use({.max_idle_per_host = 1});
  serve({{receive(), pause(), send(kHello), hold()}, {receive(), send(kHello), hold()}});
  Started first(*io_, test::fetch(*client_, {.url = server_->url()}));
  run_until(*io_, [&] { return server_->requests.size() == 1; });
  get();
  server_->resume();
  first.finish();
  EXPECT_EQ(client_->stats().idle, 1U);
}

}  // namespace
}  // namespace proteus::net::test
