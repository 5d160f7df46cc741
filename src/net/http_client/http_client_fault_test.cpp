// How the client handles servers that misbehave.
#include <atomic>
#include <thread>

#include <boost/asio/write.hpp>

#include "net/testing/closed_port.hpp"
#include "net/testing/http_client_fixture.hpp"

namespace proteus::net::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class HttpClientFaultTest : public HttpClientTest {
 protected:
  // Returns the outcome of a request to a server that follows `script`, `time` after the client began to wait for it.
  Answer after(std::chrono::milliseconds time, Script script, RequestDeadlines deadlines) {
    serve({std::move(script)});
    Started waiting(*io_, test::fetch(*client_, {.url = server_->url(), .deadlines = deadlines}));
    run_until(*io_, [&] { return server_->requests.size() == 1; });
    settle(*io_);
    EXPECT_FALSE(waiting.is_done());
    pass(time - 1ms);
    settle(*io_);
    EXPECT_FALSE(waiting.is_done());
    pass(1ms);
    return waiting.finish();
  }
};

TEST_F(HttpClientFaultTest, NobodyListens) {
  const ClosedPort closed;
  const Url url = Url::parse(fmt::format("http://127.0.0.1:{}", closed.number())).value();
  const Answer answer = get(url);
  EXPECT_EQ(answer.kind, ErrorKind::unreachable);
  EXPECT_EQ(answer.fault, fmt::format("connecting to {}: Connection refused", url.authority()));
}

TEST_F(HttpClientFaultTest, TheNameDoesNotExist) {
  const Answer answer = get(Url::parse("http://no-such-host.invalid/").value());
  EXPECT_EQ(answer.kind, ErrorKind::unreachable);
  EXPECT_THAT(answer.fault, HasSubstr("cannot find no-such-host.invalid: "));
}

TEST_F(HttpClientFaultTest, TheAnswerIsNotHttp) {
  const Answer html = answer_to("<!doctype html><html><body>It works!</body></html>");
  EXPECT_EQ(html.kind, ErrorKind::protocol);
  EXPECT_EQ(html.fault, fmt::format("{}: the answer is not HTTP/1.1; it begins with "
                                    "'<!doctype html><html><body>It works!</bo…'",
                                    server_->url().origin()));
  EXPECT_EQ(answer_to("\x16\x03\x01").kind, ErrorKind::protocol) << "a TLS server";
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello").kind, ErrorKind::protocol);
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello").kind, ErrorKind::protocol);
  EXPECT_EQ(client_->stats().idle, 0U);
}

TEST_F(HttpClientFaultTest, TheConnectionEndsAtAnyPoint) {
  const std::string plain = kHello;
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  for (const std::string& whole : {plain, chunked}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Answer answer = answer_to(whole.substr(0, size));
      EXPECT_EQ(answer.kind, ErrorKind::interrupted) << "after " << size << " bytes: " << answer.fault;
    }
    EXPECT_EQ(answer_to(whole).body, "hello");
  }
}

TEST_F(HttpClientFaultTest, TheConnectionIsResetAtAnyPoint) {
  const std::string whole = kHello;
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    serve({{receive(), send(whole.substr(0, size)), reset()}});
    EXPECT_EQ(get().kind, ErrorKind::interrupted) << "after " << size << " bytes";
  }
}

TEST_F(HttpClientFaultTest, TheServerClosesWithoutReading) {
  serve({{reset()}});
  EXPECT_EQ(get().kind, ErrorKind::interrupted);
  EXPECT_EQ(server_->connections, 1U) << "what may have been sent is not sent again";
}

TEST_F(HttpClientFaultTest, ABrokenRequestOnAReusedConnectionIsNotRepeated) {
  serve({{receive(), send(kHello), receive(), reset()}, {receive(), send(kHello)}});
  EXPECT_EQ(get().body, "hello");
  EXPECT_EQ(get().kind, ErrorKind::interrupted);
  EXPECT_EQ(server_->connections, 1U);
  EXPECT_EQ(server_->requests.size(), 2U);
}

TEST_F(HttpClientFaultTest, TheServerAnswersBeforeItHasReadEverything) {
  serve({{send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo much"), pause()}});
  const std::string large(20'000'000, 'x');
  Started sending(*io_, test::fetch(*client_, {.url = server_->url(), .method = "POST", .body = {large}}));
  run_until(*io_, [&] { return server_->connections == 1; });
  settle(*io_);
  server_->resume();
  const Answer answer = sending.finish();
  // Whether the response survives the reset is up to the kernel. No other outcome is allowed.
  EXPECT_TRUE(answer.status == 413 || answer.kind == ErrorKind::interrupted) << answer.fault;
  EXPECT_EQ(client_->stats().idle, 0U);
}

TEST_F(HttpClientFaultTest, TheServerAnswersAndReadsNoMore) {
  serve({{send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo much"), pause()}});
  const std::string large(20'000'000, 'x');
  Started sending(*io_, test::fetch(*client_, {.url = server_->url(), .method = "POST", .body = {large}}));
  const Answer answer = sending.finish();
  EXPECT_EQ(answer.status, 413) << answer.fault;
  EXPECT_EQ(answer.body, "too much");
  EXPECT_EQ(client_->stats().idle, 0U);
}

// The server may need the rest of the request for the rest of its response.
TEST_F(HttpClientFaultTest, TheServerBeginsToAnswerAndReadsOn) {
  serve({{send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"), pause(), receive(), send("llo")}});
  const std::string large(20'000'000, 'x');
  Started sending(*io_, test::fetch(*client_, {.url = server_->url(), .method = "POST", .body = {large}}));
  run_until(*io_, [&] { return server_->connections == 1; });
  settle(*io_);
  server_->resume();
  EXPECT_EQ(sending.finish().body, "hello");
  EXPECT_TRUE(server_->requests.back().ends_with(large));
}

TEST_F(HttpClientFaultTest, TheHeadNeverEnds) {
  use({.response_limits = {.head_bytes = 10'000, .fields = 20}});
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nX: " + std::string(20'000, 'x')).kind, ErrorKind::too_large);
  std::string fields = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 30; ++i)
    fields += "X: 1\r\n";
  EXPECT_EQ(answer_to(fields + "\r\n").kind, ErrorKind::too_large);
  std::string interim;
  for (int i = 0; i < 1000; ++i)
    interim += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(answer_to(interim).kind, ErrorKind::too_large);
}

TEST_F(HttpClientFaultTest, TheBodyIsTooLarge) {
  const auto limited = [&](std::string bytes, std::size_t limit) {
    serve({{receive(), send(std::move(bytes)), hold()}});
    return fetch({.url = server_->url(), .limit = limit});
  };
  EXPECT_EQ(limited("HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", 1000).kind, ErrorKind::too_large)
      << "said before it was read";
  EXPECT_EQ(limited("HTTP/1.1 200 OK\r\n\r\n" + std::string(100'000, 'x'), 50'000).kind, ErrorKind::too_large);
  const Answer answer =
      limited("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n" + std::string(100'000, 'x'), 50'000);
  EXPECT_EQ(answer.kind, ErrorKind::too_large);
  EXPECT_EQ(answer.fault,
            fmt::format("{}: the body of the answer is over the limit of 50000", server_->url().origin()));
  EXPECT_EQ(limited(kHello, 5).body, "hello");
  EXPECT_EQ(limited(kHello, 4).kind, ErrorKind::too_large);
  EXPECT_EQ(client_->stats().idle, 1U) << "that of the one that was read";
}

TEST_F(HttpClientFaultTest, TheLengthIsWrong) {
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").kind, ErrorKind::interrupted);
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhello").body, "hel");
  EXPECT_EQ(client_->stats().idle, 0U) << "a connection with bytes left over is of no use";
}

TEST_F(HttpClientFaultTest, TheBodyIsEncodedThoughNobodyAsked) {
  const Answer answer = answer_to("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(answer.kind, ErrorKind::protocol);
  EXPECT_THAT(answer.fault, HasSubstr("the answer is encoded as gzip, which was not asked for"));
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello").body, "hello");
}

TEST_F(HttpClientFaultTest, TheServerNeverAnswers) {
  const RequestDeadlines deadlines{.connect = 1s, .head = 7s, .whole = 60s};
  const Answer answer = after(7s, {receive(), hold()}, deadlines);
  EXPECT_EQ(answer.kind, ErrorKind::timeout);
  EXPECT_EQ(answer.fault, fmt::format("the answer of {} timed out", server_->url().origin()));
  run_until(*io_, [&] { return server_->closed_by_client == 1; });
}

TEST_F(HttpClientFaultTest, TheServerStopsWithinTheHead) {
  EXPECT_EQ(after(7s, {receive(), send("HTTP/1.1 200 OK\r\nX"), hold()}, {.head = 7s}).kind, ErrorKind::timeout);
}

TEST_F(HttpClientFaultTest, TheServerStopsWithinTheBody) {
  const RequestDeadlines deadlines{.head = 7s, .whole = 20s};
  EXPECT_EQ(after(20s, {receive(), send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"), hold()}, deadlines).kind,
            ErrorKind::timeout);
}

TEST_F(HttpClientFaultTest, TheServerDoesNotReadALargeRequest) {
  serve({{pause()}});
  const std::string large(20'000'000, 'x');
  Started sending(*io_, test::fetch(*client_, {.url = server_->url(), .method = "POST", .body = {large}}));
  run_until(*io_, [&] { return server_->connections == 1; });
  settle(*io_);
  pass(1h);
  EXPECT_EQ(sending.finish().kind, ErrorKind::timeout);
}

TEST_F(HttpClientFaultTest, WithoutDeadlinesItWaits) {
  serve({{receive(), pause(), send(kHello)}});
  const RequestDeadlines none{.connect = 0ms, .head = 0ms, .whole = 0ms};
  Started waiting(*io_, test::fetch(*client_, {.url = server_->url(), .deadlines = none}));
  run_until(*io_, [&] { return server_->requests.size() == 1; });
  pass(std::chrono::hours(10000));
  settle(*io_);
  EXPECT_FALSE(waiting.is_done());
  server_->resume();
  EXPECT_EQ(waiting.finish().body, "hello");
}

Task<Answer> extend_and_read(HttpClient& client, Url url) {
  auto response = co_await client.send({.url = url, .deadlines = {.whole = 10s}});
  if (!response) co_return failed(response.error());
  response->set_deadline(100s);
  auto body = co_await response->read_all(100);
  if (!body) co_return failed(body.error());
  co_return Answer{response->status(), std::string(*body), {}, ""};
}

TEST_F(HttpClientFaultTest, ACallerCanGiveMoreTime) {
  serve({{receive(), send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"), pause(), send("llo")}});
  Started reading(*io_, extend_and_read(*client_, server_->url()));
  run_until(*io_, [&] { return server_->requests.size() == 1; });
  settle(*io_);
  pass(99s);
  settle(*io_);
  EXPECT_FALSE(reading.is_done());
  server_->resume();
  EXPECT_EQ(reading.finish().body, "hello");
}

TEST_F(HttpClientFaultTest, TheTimerLooksAtDeadlinesByItself) {
  const SystemClock system;
  HttpClient client(*io_, system, {.sweep_interval = 1ms});
  serve({{receive(), hold()}});
  EXPECT_EQ(run(*io_, test::fetch(client, {.url = server_->url(), .deadlines = {.head = 1ms}})).kind,
            ErrorKind::timeout);
}

// An endless response, sent by a separate thread as fast as the client reads it.
class Flood {
 public:
  Flood() : acceptor_(io_, {boost::asio::ip::address_v4::loopback(), 0}), thread_([this] { pour(); }) {}
  ~Flood() {
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    thread_.join();
  }
  Url url() const { return Url::parse(fmt::format("http://127.0.0.1:{}/", acceptor_.local_endpoint().port())).value(); }
  // Blocks until `bytes` bytes were sent in all.
  void wait_for(std::size_t bytes) const {
    while (sent_ < bytes)
      std::this_thread::yield();
  }

 private:
  void pour() {
    boost::system::error_code error;
    boost::asio::ip::tcp::socket socket(io_);
    acceptor_.accept(socket, error);
    if (error) return;
    boost::asio::write(socket, boost::asio::buffer(std::string_view("HTTP/1.1 200 OK\r\n\r\n")), error);
    const std::string bytes(std::size_t{16} << 10U, 'x');
    while (!error)
      sent_ += boost::asio::write(socket, boost::asio::buffer(bytes), error);
  }

  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::atomic<std::size_t> sent_ = 0;
  std::thread thread_;
};

// Reads so slowly that it never has to wait.
Task<Answer> read_much(HttpClient& client, const Flood& flood) {
  const Url url = flood.url();
  auto response = co_await client.send({.url = url, .deadlines = {.whole = 20ms}});
  if (!response) co_return failed(response.error());
  for (std::size_t read = 0; read < std::size_t{256} << 20U;) {
    flood.wait_for(read + (std::size_t{32} << 10U));
    const auto piece = co_await response->read_some();
    if (!piece) co_return failed(piece.error());
    read += piece->size();
  }
  co_return Answer{response->status(), "much", {}, ""};
}

TEST_F(HttpClientFaultTest, TheTimeIsUpWhileTheAnswerFloodsIn) {
  const SystemClock system;
  HttpClient client(*io_, system, {.sweep_interval = 1ms});
  const Flood flood;
  EXPECT_EQ(run(*io_, read_much(client, flood)).kind, ErrorKind::timeout);
}

}  // namespace
}  // namespace proteus::net::test
