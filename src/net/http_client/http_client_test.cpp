#include "net/http_client/http_client.hpp"

#include "net/testing/http_client_fixture.hpp"

namespace proteus::net::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(HttpClientTest, SendsWhatItIsTold) {
  serve({{receive(), send(kHello)}});
  const std::vector<Field> fields = {{"Content-Type", "application/json"}, {"X-Empty", ""}};
  const Answer answer =
      fetch({.url = server_->url("/a?b=c"), .method = "POST", .fields = fields, .body = {"{\"a\"", "", ":1}"}});
  EXPECT_EQ(answer.fault, "");
  EXPECT_EQ(answer.status, 200U);
  EXPECT_EQ(answer.body, "hello");
  EXPECT_THAT(server_->requests,
              ElementsAre(fmt::format("POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: "
                                      "application/json\r\nX-Empty: \r\nUser-Agent: proteus\r\nAccept-Encoding: "
                                      "identity\r\nContent-Length: 7\r\n\r\n{{\"a\":1}}",
                                      server_->port())));
}

TEST_F(HttpClientTest, SendsNoLengthWhereThereIsNoBody) {
  serve({{receive(), send(kHello), receive(), send(kHello), receive(), send(kHello)}});
  fetch({.url = server_->url()});
  fetch({.url = server_->url(), .method = "POST"});
  fetch({.url = server_->url(), .method = "DELETE"});
  ASSERT_EQ(server_->requests.size(), 3U);
  EXPECT_THAT(server_->requests[0], testing::Not(HasSubstr("Content-Length")));
  EXPECT_THAT(server_->requests[1], HasSubstr("Content-Length: 0\r\n"));
  EXPECT_THAT(server_->requests[2], testing::Not(HasSubstr("Content-Length")));
}

TEST_F(HttpClientTest, SendsALargeBodyWhole) {
  serve({{receive(), send(kHello)}});
  const std::string large(1'000'000, 'x');
  EXPECT_EQ(fetch({.url = server_->url(), .method = "PUT", .body = {large, "end"}}).fault, "");
  EXPECT_THAT(server_->requests.at(0), testing::EndsWith("xend"));
}

TEST_F(HttpClientTest, LetsTheCallerNameItsAgent) {
  serve({{receive(), send(kHello)}});
  const std::vector<Field> fields = {{"user-agent", "me"}};
  fetch({.url = server_->url(), .fields = fields});
  EXPECT_THAT(server_->requests.at(0), HasSubstr("user-agent: me\r\n"));
  EXPECT_THAT(server_->requests.at(0), testing::Not(HasSubstr("proteus")));
}

TEST_F(HttpClientTest, RefusesWhatWouldBreakTheRequest) {
  serve({});
  const auto kind_with = [&](Field field) {
    const Answer answer = fetch({.url = server_->url(), .fields = {field}});
    EXPECT_EQ(answer.kind, ErrorKind::invalid) << field.name;
    return answer.fault;
  };
  EXPECT_EQ(kind_with({"X", "a\r\nY: b"}), "the value of field X holds control characters");
  EXPECT_EQ(kind_with({"X Y", "a"}), "'X Y' cannot be a field of a request");
  EXPECT_EQ(kind_with({"", "a"}), "'' cannot be a field of a request");
  EXPECT_EQ(kind_with({"HOST", "a"}), "'HOST' cannot be a field of a request");
  EXPECT_EQ(kind_with({"Transfer-Encoding", "chunked"}), "'Transfer-Encoding' cannot be a field of a request");
  EXPECT_EQ(kind_with({"Content-Length", "1"}), "'Content-Length' cannot be a field of a request");
  EXPECT_EQ(fetch({.url = server_->url(), .method = "GET /"}).fault, "'GET /' is not a method");
  EXPECT_EQ(server_->connections, 0U);
}

Task<std::vector<std::string>> describe(HttpClient& client, Url url) {
  auto response = co_await client.send({.url = url});
  if (!response) co_return std::vector{response.error().message()};
  std::vector<std::string> out = {std::to_string(response->status()), std::string(response->content_type())};
  auto body = co_await response->read_all(100);
  // The fields stay valid after the connection has returned to the pool.
  for (const auto& [name, value] : response->fields())
    out.push_back(fmt::format("{}={}", name, value));
  out.push_back(response->has_content_type("text/HTML") ? "html" : "other");
  co_return out;
}

TEST_F(HttpClientTest, KeepsTheFieldsOfTheAnswer) {
  serve({{receive(), send("HTTP/1.1 404 Not Found\r\nContent-Type: Text/Html ; charset=utf-8\r\nX:  a b "
                          "\r\nContent-Length: "
                          "0\r\n\r\n")}});
  EXPECT_THAT(
      run(*io_, describe(*client_, server_->url())),
      ElementsAre("404", "Text/Html", "Content-Type=Text/Html ; charset=utf-8", "X=a b", "Content-Length=0", "html"));
}

TEST_F(HttpClientTest, ReturnsRedirectsAsTheyAre) {
  EXPECT_EQ(answer_to("HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n").status, 302U);
  EXPECT_EQ(server_->connections, 1U);
}

TEST_F(HttpClientTest, ReadsEveryKindOfBody) {
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=1\r\nhello\r\n6\r\n world\r\n0\r\nT: "
                      "1\r\n\r\n")
                .body,
            "hello world");
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\n\r\nuntil the end").body, "until the end");
  EXPECT_EQ(answer_to("HTTP/1.0 200 OK\r\n\r\nuntil the end").body, "until the end");
  EXPECT_EQ(answer_to("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").body, "ok");
  EXPECT_EQ(answer_to("HTTP/1.1 204 No Content\r\n\r\n").status, 204U);
  EXPECT_EQ(answer_to("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n").status, 304U);
}

TEST_F(HttpClientTest, ReadsNoBodyAfterHead) {
  serve({{receive(), send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"), receive(), send(kHello)}});
  const Answer answer = fetch({.url = server_->url(), .method = "HEAD"});
  EXPECT_EQ(answer.status, 200U) << answer.fault;
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(get().body, "hello") << "the connection is still good";
  EXPECT_EQ(server_->connections, 1U);
}

TEST_F(HttpClientTest, ReadsWhatTrickles) {
  serve({{receive(), trickle(kHello), receive(),
          trickle("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;x\r\n!\r\n0\r\nT: "
                  "1\r\n\r\n"),
          receive(), trickle(kHello)}});
  EXPECT_EQ(get().body, "hello");
  EXPECT_EQ(get().body, "hello!");
  EXPECT_EQ(get().body, "hello");
  EXPECT_EQ(server_->connections, 1U);
}

TEST_F(HttpClientTest, ReadsBodiesLargerThanItsBuffers) {
  std::string body;
  for (int i = 0; body.size() < 300'000; ++i)
    body += std::to_string(i);
  std::string chunks;
  for (std::size_t at = 0; at < body.size(); at += 7777) {
    const auto chunk = body.substr(at, 7777);
    chunks += fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk);
  }
  EXPECT_EQ(answer_to(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body)).body, body);
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n").body, body);
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\n\r\n" + body).body, body);
  const std::string padding(20'000, 'p');
  EXPECT_EQ(answer_to(fmt::format("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 5\r\n\r\nhello", padding)).body,
            "hello");
}

Task<bool> read_padding(HttpClient& client, Url url) {
  auto response = co_await client.send({.url = url});
  const auto body = co_await response.value().read_all(1'000'000);
  volatile char last = 0;
  for (std::size_t i = 0; i < ClientResponse::kPadding; ++i)
    last = body.value().data()[body->size() + i];
  static_cast<void>(last);
  co_return true;
}

TEST_F(HttpClientTest, LeavesReadableBytesAfterABody) {
  for (const std::size_t size : {0U, 1U, 16000U, 16300U, 16384U, 100000U}) {
    serve({{receive(),
            send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", size, std::string(size, 'x')))}});
    EXPECT_TRUE(run(*io_, read_padding(*client_, server_->url())));  // checked by the sanitizer
  }
}

Task<> stream(HttpClient& client, Url url, std::vector<std::string>& pieces, std::string& end) {
  auto response = co_await client.send({.url = url, .deadlines = {.whole = 0ms}});
  for (;;) {
    auto piece = co_await response.value().read_some();
    if (!piece || piece->empty()) {
      end = piece ? "end" : piece.error().message();
      break;
    }
    pieces.emplace_back(*piece);
  }
}

TEST_F(HttpClientTest, GivesAStreamAsItArrives) {
  serve({{receive(), send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), pause(), send("7\r\ndata: 1\r\n"),
          pause(), send("2\r\n\n\n\r\n7\r\ndata: 2\r\n"), pause(), send("0\r\n\r\n"), receive(), send(kHello)}});
  std::vector<std::string> pieces;
  std::string end;
  TaskGroup group(io_->get_executor());
  group.spawn("stream", stream(*client_, server_->url(), pieces, end));
  server_->resume();
  run_until(*io_, [&] { return pieces.size() == 1; });
  EXPECT_EQ(pieces.back(), "data: 1");
  server_->resume();
  run_until(*io_, [&] { return pieces.size() == 2; });
  EXPECT_EQ(pieces.back(), "\n\ndata: 2") << "chunks that arrive together are given together";
  server_->resume();
  run(*io_, group.join());
  EXPECT_EQ(end, "end");
  EXPECT_EQ(get().body, "hello");
  EXPECT_EQ(server_->connections, 1U) << "a stream that ended gives its connection back";
}

Task<Answer> read_in_two_ways(HttpClient& client, Url url) {
  auto response = co_await client.send({.url = url});
  const auto first = co_await response.value().read_some();
  std::string text = std::string(first.value()) + "|";
  const auto rest = co_await response->read_all(100);
  text += rest.value();
  co_return Answer{response->status(), text, {}, ""};
}

TEST_F(HttpClientTest, ReadsTheRestOfAStreamAtOnce) {
  serve({{receive(), send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), pause(), send("world")}});
  Started reading(*io_, read_in_two_ways(*client_, server_->url()));
  run_until(*io_, [&] { return server_->requests.size() == 1; });
  settle(*io_);
  server_->resume();
  EXPECT_EQ(reading.finish().body, "hello|world");
}

TEST_F(HttpClientTest, FindsLocalhostInBothFamilies) {
  for (const char* address : {"127.0.0.1", "::1"}) {
    serve({{receive(), send(kHello)}}, address);
    EXPECT_EQ(get(server_->url("/", "http://localhost")).body, "hello") << address;
    EXPECT_THAT(server_->requests.at(0), HasSubstr(fmt::format("Host: localhost:{}\r\n", server_->port())));
  }
  serve({{receive(), send(kHello)}}, "::1");
  EXPECT_EQ(get(server_->url("/", "http://[::1]")).body, "hello");
  EXPECT_THAT(server_->requests.at(0), HasSubstr("Host: [::1]:"));
}

TEST_F(HttpClientTest, AsksTheFilterBeforeItConnects) {
  std::vector<std::string> asked;
  use({.address_filter = [&](const Url& url, const boost::asio::ip::address& address) -> Result<> {
    asked.push_back(fmt::format("{} {}", url.host(), address.to_string()));
    return std::unexpected(errors::forbidden("not there"));
  }});
  serve({});
  const Answer answer = get(server_->url("/", "http://localhost"));
  EXPECT_EQ(answer.kind, ErrorKind::forbidden);
  EXPECT_EQ(answer.fault, "not there");
  EXPECT_THAT(asked, ElementsAre("localhost 127.0.0.1", "localhost ::1"));
  EXPECT_EQ(server_->connections, 0U);
}

TEST_F(HttpClientTest, UsesNoConnectionThatTheFilterAllowedBeforeItChanged) {
  std::atomic<std::uint64_t> version = 1;
  bool allowed = true;
  use({.address_filter = [&](const Url&, const auto&) -> Result<> {
         if (allowed) return {};
         return std::unexpected(errors::forbidden("not there"));
       },
       .filter_version = &version});
  serve({{receive(), send(kHello), hold()}, {receive(), pause(), send(kHello), hold()}, {receive(), send(kHello)}});
  EXPECT_EQ(get().body, "hello");
  ++version;
  Started under_way(*io_, test::fetch(*client_, {.url = server_->url()}));
  run_until(*io_, [&] { return server_->requests.size() == 2; });
  EXPECT_EQ(server_->connections, 2U) << "allowed again, and opened anew";
  ++version;
  allowed = false;
  server_->resume();
  EXPECT_EQ(under_way.finish().body, "hello") << "what runs goes on";
  EXPECT_EQ(client_->stats().idle, 0U);
  EXPECT_EQ(get().kind, ErrorKind::forbidden);
}

TEST_F(HttpClientTest, UsesTheAddressesThatTheFilterAllows) {
  use({.address_filter = [](const Url&, const boost::asio::ip::address& address) -> Result<> {
    if (address.is_v6()) return {};
    return std::unexpected(errors::forbidden("not there"));
  }});
  serve({{receive(), send(kHello)}}, "::1");
  EXPECT_EQ(get(server_->url("/", "http://localhost")).body, "hello");
}

TEST_F(HttpClientTest, OutlivedByAResponseStaysSafe) {
  serve({{receive(), send(kHello), hold()}});
  auto url = server_->url();
  std::optional<ClientResponse> kept;
  run(*io_, [](HttpClient& client, Url& from, std::optional<ClientResponse>& into) -> Task<> {
    auto response = co_await client.send({.url = from});
    into.emplace(std::move(response.value()));
  }(*client_, url, kept));
  client_ = nullptr;
  EXPECT_EQ(kept->status(), 200U);
  kept.reset();
}

TEST_F(HttpClientTest, EndsEverythingWhenItCloses) {
  serve({{receive(), hold()}});
  Started waiting(*io_, test::fetch(*client_, {.url = server_->url()}));
  run_until(*io_, [&] { return server_->requests.size() == 1; });
  client_->close();
  EXPECT_EQ(waiting.finish().kind, ErrorKind::cancelled);
  EXPECT_EQ(get().kind, ErrorKind::cancelled);
}

}  // namespace
}  // namespace proteus::net::test
