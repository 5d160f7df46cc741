// Connections that are not accepted, and callers that cancel or abort.
#include <memory>
#include <vector>

#include <boost/asio/ip/v6_only.hpp>
#include <sys/socket.h>

#include "net/testing/http_client_fixture.hpp"

namespace proteus::net::test {
namespace {

using namespace std::chrono_literals;
using HttpClientLeavingTest = HttpClientTest;

// Accepts no connections: its queue is full, and the kernel ignores further attempts.
class FullQueue {
 public:
  explicit FullQueue(boost::asio::io_context& io) : acceptor_(io) {
    acceptor_.open(boost::asio::ip::tcp::v4());
    acceptor_.bind({boost::asio::ip::address_v4::loopback(), 0});
    acceptor_.listen(0);
    for (int i = 0; i < 8; ++i) {
      fillers_.emplace_back(io);
      fillers_.back().open(boost::asio::ip::tcp::v4());
      fillers_.back().non_blocking(true);
      // Asio's `connect` would wait.
      const auto endpoint = acceptor_.local_endpoint();
      ::connect(fillers_.back().native_handle(), endpoint.data(), static_cast<socklen_t>(endpoint.size()));
    }
  }
  Url url() const { return Url::parse(fmt::format("http://127.0.0.1:{}/", acceptor_.local_endpoint().port())).value(); }

 private:
  boost::asio::ip::tcp::acceptor acceptor_;
  std::vector<boost::asio::ip::tcp::socket> fillers_;
};

TEST_F(HttpClientLeavingTest, TheConnectionIsNotTaken) {
  const FullQueue queue(*io_);
  Started connecting(*io_, test::fetch(*client_, {.url = queue.url(), .deadlines = {.connect = 3s}}));
  settle(*io_);
  pass(2999ms);
  settle(*io_);
  ASSERT_FALSE(connecting.is_done());
  pass(1ms);
  const Answer answer = connecting.finish();
  EXPECT_EQ(answer.kind, ErrorKind::unreachable) << "nothing was sent, so it may be tried again";
  EXPECT_EQ(answer.fault, fmt::format("connecting to {} timed out", queue.url().authority()));
}

TEST_F(HttpClientLeavingTest, OneAddressDoesNotUseUpTheTimeOfTheNext) {
  // localhost has two addresses; only the second one accepts connections.
  const FullQueue queue(*io_);
  boost::asio::ip::tcp::acceptor six(*io_);
  six.open(boost::asio::ip::tcp::v6());
  six.set_option(boost::asio::ip::v6_only(true));
  six.bind({boost::asio::ip::address_v6::loopback(), queue.url().port()});
  six.listen();
  const Url url = Url::parse(fmt::format("http://localhost:{}/", queue.url().port())).value();
  Started connecting(*io_, test::fetch(*client_, {.url = url, .deadlines = {.connect = 4s}}));
  settle(*io_);
  pass(2s);
  run_until(*io_, [&] { return client_->stats().opened == 1; });
  connecting.cancel();
  EXPECT_EQ(connecting.finish().kind, ErrorKind::cancelled);
}

TEST_F(HttpClientLeavingTest, TheCallerLeavesWhileConnecting) {
  const FullQueue queue(*io_);
  Started connecting(*io_, test::fetch(*client_, {.url = queue.url()}));
  settle(*io_);
  connecting.cancel();
  EXPECT_EQ(connecting.finish().kind, ErrorKind::cancelled);
}

TEST_F(HttpClientLeavingTest, TheCallIsAbortedBeforeItBegins) {
  serve({{receive(), send(kHello)}});
  RequestAbort abort;
  abort();
  EXPECT_EQ(fetch({.url = server_->url(), .abort = &abort}).kind, ErrorKind::cancelled);
  settle(*io_);
  EXPECT_EQ(server_->connections, 0U);
}

TEST_F(HttpClientLeavingTest, TheCallIsAbortedBetweenTwoStepsOfConnecting) {
  serve({{receive(), send(kHello)}});
  RequestAbort abort;
  use({.address_filter = [&](const Url&, const boost::asio::ip::address&) {
    abort();
    return Result<>{};
  }});
  EXPECT_EQ(fetch({.url = server_->url(), .abort = &abort}).kind, ErrorKind::cancelled);
  settle(*io_);
  EXPECT_EQ(server_->connections, 0U);
}

TEST_F(HttpClientLeavingTest, TheCallIsAbortedWhileConnecting) {
  const FullQueue queue(*io_);
  RequestAbort abort;
  Started connecting(*io_, test::fetch(*client_, {.url = queue.url(), .abort = &abort}));
  settle(*io_);
  abort();
  settle(*io_);
  ASSERT_TRUE(connecting.is_done());
  EXPECT_EQ(connecting.finish().kind, ErrorKind::cancelled);
}

TEST_F(HttpClientLeavingTest, TheCallIsAbortedWhileConnectingToTheFirstOfTwoAddresses) {
  const FullQueue queue(*io_);
  const Url url = Url::parse(fmt::format("http://localhost:{}/", queue.url().port())).value();
  RequestAbort abort;
  Started connecting(*io_, test::fetch(*client_, {.url = url, .deadlines = {.connect = 4s}, .abort = &abort}));
  settle(*io_);
  pass(2s);  // the time of the first address is up
  abort();
  settle(*io_);
  ASSERT_TRUE(connecting.is_done());
  EXPECT_EQ(connecting.finish().kind, ErrorKind::cancelled);
}

TEST_F(HttpClientLeavingTest, TheCallIsAbortedWhileWaiting) {
  serve({{receive(), hold()}});
  RequestAbort abort;
  Started waiting(*io_, test::fetch(*client_, {.url = server_->url(), .abort = &abort}));
  run_until(*io_, [&] { return server_->requests.size() == 1; });
  abort();
  EXPECT_EQ(waiting.finish().kind, ErrorKind::cancelled);
}

TEST_F(HttpClientLeavingTest, TheCallerLeavesWhileTheNameIsLookedUp) {
  Started looking(*io_, test::fetch(*client_, {.url = Url::parse("http://no-such-host.invalid/").value()}));
  settle(*io_);
  looking.cancel();
  const ErrorKind kind = looking.finish().kind;
  EXPECT_TRUE(kind == ErrorKind::cancelled || kind == ErrorKind::unreachable);
}

TEST_F(HttpClientLeavingTest, TheCallerLeavesWhileWaiting) {
  serve({{receive(), hold()}});
  Started waiting(*io_, test::fetch(*client_, {.url = server_->url()}));
  run_until(*io_, [&] { return server_->requests.size() == 1; });
  waiting.cancel();
  EXPECT_EQ(waiting.finish().kind, ErrorKind::cancelled);
  run_until(*io_, [&] { return server_->closed_by_client == 1; });
}

TEST_F(HttpClientLeavingTest, TheCallerLeavesWhileReading) {
  serve({{receive(), send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"), hold()}});
  Started reading(*io_, test::fetch(*client_, {.url = server_->url()}));
  run_until(*io_, [&] { return server_->requests.size() == 1; });
  settle(*io_);
  reading.cancel();
  EXPECT_EQ(reading.finish().kind, ErrorKind::cancelled);
  run_until(*io_, [&] { return server_->closed_by_client == 1; });
}

TEST_F(HttpClientLeavingTest, EverythingEndsWhileARequestIsUnderWay) {
  serve({{receive(), hold()}});
  auto waiting = std::make_unique<Started<Answer>>(*io_, test::fetch(*client_, {.url = server_->url()}));
  run_until(*io_, [&] { return server_->requests.size() == 1; });
  server_ = nullptr;
  client_ = nullptr;
  io_ = nullptr;  // destroys the waiting coroutine
}

}  // namespace
}  // namespace proteus::net::test
