#include "cluster/peers/peer_links.hpp"

#include <future>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "net/http_server/http_server.hpp"
#include "net/testing/raw_client.hpp"

namespace proteus::cluster {
namespace {

// Sends an event, and then nothing until the stream ends.
Task<> send_event(net::Exchange& exchange) {
  Bell ended(exchange.executor());
  exchange.on_disconnect([&] { ended.ring(); });
  co_await exchange.begin_stream({.content_type = "text/event-stream"});
  co_await exchange.write("data: hello\n\n");
  co_await ended.wait_quietly();
}

// Two processes. The first one forwards everything to the second one.
class PeerLinksTest : public testing::Test {
 protected:
  PeerLinksTest() {
    workers_.run();
    EXPECT_TRUE(second_.listen());
    EXPECT_TRUE(first_.listen());
    peer_ = std::make_shared<const Peer>(
        "second", net::Url::parse(fmt::format("https://127.0.0.1:{}", second_.local_port())).value());
  }
  ~PeerLinksTest() override {
    first_.stop();
    second_.stop();
    workers_.stop();
    workers_.join();
  }

  Task<> forward(net::Exchange& exchange) { EXPECT_TRUE(co_await links_.pass_on(exchange, peer_)); }

  static net::HttpServerOptions behind_links(const PeerLinks& links) {
    net::HttpServerOptions options;
    options.tls = links.server_tls();
    options.is_multiplexed = true;
    return options;
  }

  SystemClock clock_;
  net::Workers workers_{1};
  PeerLinks links_{workers_, clock_, PeerLinks::Keys("pepper"), "first"};
  net::HttpServer second_{workers_, behind_links(links_), send_event};
  net::HttpServer first_{workers_, {}, [this](net::Exchange& exchange) { return forward(exchange); }};
  PeerPointer peer_;
};

// REP-14
TEST_F(PeerLinksTest, EndAStreamThatIsForwardedWhenTheirProcessDrains) {
  net::RawClient client(first_.local_port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.receive(true).status, 200);
  EXPECT_EQ(client.receive_chunk(), "data: hello\n\n");
  auto drained = boost::asio::co_spawn(workers_.at(0), first_.drain(std::chrono::hours(1)), boost::asio::use_future);
  EXPECT_EQ(client.receive_chunk(), std::nullopt) << "the stream ends, and is not cut off";
  client.close();
  drained.wait();
}

}  // namespace
}  // namespace proteus::cluster
