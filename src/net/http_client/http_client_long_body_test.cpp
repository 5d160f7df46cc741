// Bodies that take long to receive.
#include <functional>

#include "net/testing/http_client_fixture.hpp"

namespace proteus::net::test {
namespace {

// Returns the text as a chunk of a body.
std::string as_chunk(const std::string& text) { return fmt::format("{:x}\r\n{}\r\n", text.size(), text); }

TEST_F(HttpClientTest, LetsOthersRunWhileALongBodyArrives) {
  const std::string text(std::size_t{4} << 20U, 'x');
  serve({{receive(), send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + as_chunk(text) + "0\r\n\r\n")}});
  std::size_t turns = 0;
  bool ended = false;
  std::function<void()> count = [&] {
    ++turns;
    if (!ended) boost::asio::post(*io_, count);
  };
  boost::asio::post(*io_, count);
  const auto read = [](HttpClient& client, Request request, std::size_t& turns, bool& ended) -> Task<std::size_t> {
    auto response = co_await client.send(request.view());
    EXPECT_TRUE(response);
    std::size_t most = 0;
    for (auto body = response->try_read_all(request.limit); body && !*body;
         body = response->try_read_all(request.limit)) {
      const std::size_t before = turns;
      (void)co_await response->wait();
      most = std::max(most, turns - before);
    }
    const auto body = response->try_read_all(request.limit);
    EXPECT_TRUE(body && *body && (*body)->size() == request.limit);
    ended = true;
    co_return most;
  };
  EXPECT_GE(run(*io_, read(*client_, {.url = server_->url(), .limit = text.size()}, turns, ended)), 1U);
  settle(*io_);
  EXPECT_GE(turns, 8U) << "no more than 512 KiB between two turns";
}

TEST_F(HttpClientTest, ReadsTheRestOfABodyThatArrivesInPieces) {
  serve({{receive(), send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + as_chunk("first")), pause(),
          send(as_chunk("second")), pause(), send(as_chunk("third") + "0\r\n\r\n")}});
  const auto read = [](HttpClient& client, Request request, ScriptedServer& server) -> Task<std::string> {
    auto response = co_await client.send(request.view());
    EXPECT_EQ((co_await response->read_some()).value_or(""), "first");
    server.resume();
    (void)co_await response->wait();
    EXPECT_FALSE(response->try_read_all(request.limit).value());
    server.resume();
    co_return std::string((co_await response->read_all(request.limit)).value_or(""));
  };
  EXPECT_EQ(run(*io_, read(*client_, {.url = server_->url()}, *server_)), "secondthird");
}

TEST_F(HttpClientTest, GivesALongBodyAwayWithItsMemory) {
  const std::string text(std::size_t{2} << 20U, 'x');
  serve({{receive(), send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", text.size(), text))}});
  std::string_view body;
  const auto take = [](HttpClient& client, Request request,
                       std::string_view& body) -> Task<std::shared_ptr<const void>> {
    auto response = co_await client.send(request.view());
    body = (co_await response->read_all(request.limit)).value_or("");
    co_return response->take_memory();
  };
  const auto kept = run(*io_, take(*client_, {.url = server_->url(), .limit = text.size()}, body));
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(body, text);
}

}  // namespace
}  // namespace proteus::net::test
