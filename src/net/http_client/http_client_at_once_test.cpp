// Requests that are sent at once, over an idle connection.
#include "net/testing/http_client_fixture.hpp"

namespace proteus::net::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kEvents = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

class HttpClientAtOnceTest : public HttpClientTest {
 protected:
  // Opens one idle connection to a server that answers the first request and then follows `then`.
  void connect(Script then) {
    Script script = {receive(), send(kHello)};
    script.insert(script.end(), then.begin(), then.end());
    serve({std::move(script)});
    ASSERT_EQ(fetch(request()).body, "hello");
  }
  Request request() const { return {.url = server_->url()}; }
  std::optional<ClientResponse> at_once(const Request& request) { return client_->try_send(request.view()); }

  // Sends more than the buffers of both sides can hold. The request is destroyed when this function returns.
  std::optional<ClientResponse> post_large() {
    return at_once({.url = server_->url(), .method = "POST", .body = {large_}});
  }

  // Returns whether the wait was stopped.
  static Task<bool> wait(ClientResponse& response) {
    const auto [error] = co_await response.wait();
    co_return static_cast<bool>(error);
  }
  static Task<Result<bool>> read_head(ClientResponse& response) {
    for (;;) {
      const auto here = response.try_read_head();
      if (!here || *here) co_return here;
      (void)co_await response.wait();
    }
  }
  static Task<std::string> read_all(ClientResponse& response) {
    if (const auto here = co_await read_head(response); !here) co_return "error: " + here.error().message();
    const auto body = co_await response.read_all(100);
    co_return body ? std::string(*body) : "error: " + body.error().message();
  }

  const std::string large_ = std::string(std::size_t{16} << 20U, 'x');
};

TEST_F(HttpClientAtOnceTest, SendsNothingWhereAConnectionWouldHaveToBeOpened) {
  serve({{receive(), send(kHello)}});
  EXPECT_FALSE(at_once(request()));
  settle(*io_);
  EXPECT_TRUE(server_->requests.empty());
}

TEST_F(HttpClientAtOnceTest, GivesAnAnswerThatHasNotBegun) {
  connect({receive(), pause(), send(kHello)});
  auto response = at_once(request());
  ASSERT_TRUE(response);
  settle(*io_);
  EXPECT_FALSE(response->try_read_head().value());
  server_->resume();
  EXPECT_EQ(run(*io_, read_all(*response)), "hello");
  EXPECT_EQ(client_->stats().opened, 1U);
  EXPECT_EQ(client_->stats().idle, 1U);
}

TEST_F(HttpClientAtOnceTest, WaitingCanBeStoppedAndTheAnswerStillComes) {
  connect({receive(), pause(), send(kHello)});
  auto response = at_once(request());
  ASSERT_TRUE(response);
  Started waiting(*io_, wait(*response));
  settle(*io_);
  ASSERT_FALSE(waiting.is_done());
  response->stop_waiting();
  EXPECT_TRUE(waiting.finish());
  EXPECT_FALSE(response->try_read_head().value()) << "nothing else has changed";
  server_->resume();
  EXPECT_EQ(run(*io_, read_all(*response)), "hello");
}

TEST_F(HttpClientAtOnceTest, ReadsWhatIsThereAndSaysWhenMoreIsToCome) {
  connect({receive(), send(kEvents), send("3\r\none\r\n"), pause(), send("3\r\ntwo\r\n0\r\n\r\n")});
  auto response = at_once(request());
  ASSERT_TRUE(response);
  ASSERT_TRUE(run(*io_, read_head(*response)).value());
  const auto read_some = [](ClientResponse& from) -> Task<std::string> {
    for (;;) {
      if (const auto some = from.try_read_some().value()) co_return std::string(*some);
      (void)co_await from.wait();
    }
  };
  EXPECT_EQ(run(*io_, read_some(*response)), "one");
  EXPECT_EQ(response->try_read_some().value(), std::nullopt);
  server_->resume();
  EXPECT_EQ(run(*io_, read_some(*response)), "two");
  EXPECT_EQ(run(*io_, read_some(*response)), "");
  EXPECT_EQ(client_->stats().idle, 1U);
}

TEST_F(HttpClientAtOnceTest, SendsTheRestOfALargeBodyWhenItIsWaitedFor) {
  connect({pause(), receive(), send(kHello)});
  auto response = post_large();
  ASSERT_TRUE(response);
  server_->resume();
  EXPECT_EQ(run(*io_, read_all(*response)), "hello");
  EXPECT_TRUE(server_->requests.back().ends_with(large_));
}

TEST_F(HttpClientAtOnceTest, StopsAlsoWhereTheRequestIsStillBeingSent) {
  connect({pause(), receive(), send(kHello)});
  auto response = post_large();
  ASSERT_TRUE(response);
  Started waiting(*io_, wait(*response));
  settle(*io_);
  ASSERT_FALSE(waiting.is_done());
  response->stop_waiting();
  EXPECT_TRUE(waiting.finish());
  server_->resume();
  EXPECT_EQ(run(*io_, read_all(*response)), "hello");
  EXPECT_TRUE(server_->requests.back().ends_with(large_)) << "and nothing of it is lost";
}

TEST_F(HttpClientAtOnceTest, EndsWhereTheRestCannotBeSent) {
  connect({pause(), reset()});
  auto response = post_large();
  ASSERT_TRUE(response);
  server_->resume();
  settle(*io_);  // no coroutine waits, so writing meets the reset first
  EXPECT_THAT(run(*io_, read_all(*response)), testing::HasSubstr("error: ")) << "and nobody tries for ever";
  EXPECT_EQ(client_->stats().idle, 0U);
}

TEST_F(HttpClientAtOnceTest, HearsAHostThatAnswersAndReadsNoMore) {
  connect({pause(), send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"), pause()});
  auto response = post_large();
  ASSERT_TRUE(response);
  server_->resume();
  EXPECT_EQ(run(*io_, read_all(*response)), "no");
}

TEST_F(HttpClientAtOnceTest, UsesNoConnectionAgainWhoseHostAnsweredBeforeItHadAll) {  // SEC-06
  connect({pause(), send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"), hold()});
  auto response = post_large();
  ASSERT_TRUE(response);
  server_->resume();
  run_until(*io_, [&] { return response->try_read_head().value(); });  // without `wait`, which would send the rest
  EXPECT_EQ(response->status(), 413U);
  response.reset();
  EXPECT_EQ(client_->stats().idle, 0U) << "what follows would be taken for the rest of the body";
}

TEST_F(HttpClientAtOnceTest, HasADeadline) {
  connect({receive(), hold()});
  Request wanted = request();
  wanted.deadlines.head = 3s;
  auto response = at_once(wanted);
  ASSERT_TRUE(response);
  Started reading(*io_, read_all(*response));
  settle(*io_);
  pass(2999ms);
  settle(*io_);
  EXPECT_FALSE(reading.is_done());
  pass(1ms);
  EXPECT_EQ(reading.finish(), fmt::format("error: the answer of {} timed out", server_->url().origin()));
}

TEST_F(HttpClientAtOnceTest, AMovedDeadlineHoldsBeforeTheHeadAndBehindIt) {
  connect({receive(), pause(), send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), pause(), send("hello")});
  Request wanted = request();
  wanted.deadlines = {.head = 3s, .whole = 3s};
  auto response = at_once(wanted);
  ASSERT_TRUE(response);
  response->set_deadline(0s);
  Started reading(*io_, read_all(*response));
  pass(10s);
  settle(*io_);
  server_->resume();
  settle(*io_);
  pass(10s);
  settle(*io_);
  server_->resume();
  EXPECT_EQ(reading.finish(), "hello");
}

TEST_F(HttpClientAtOnceTest, TriesNoConnectionThatTheHostHasClosed) {
  connect({});
  settle(*io_);
  EXPECT_FALSE(at_once(request()));
}

}  // namespace
}  // namespace proteus::net::test
