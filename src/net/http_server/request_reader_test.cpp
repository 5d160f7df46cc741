#include "net/http_server/request_reader.hpp"

#include <array>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "net/testing/request_feeding.hpp"

namespace proteus::net {
namespace {

using test::advance;
using test::feed;
using test::refusal_of;
using Step = RequestReader::Step;

TEST(RequestReader, GivesTheSameRequestHoweverItArrives) {
  constexpr std::string_view kBytes =
      "\r\nPOST /mcp/ctx?a=1&b=?2 HTTP/1.1\r\nHost: example\r\nX-Empty:\r\nX-Spaced: \t some value \t\r\n"
      "content-LENGTH: 5\r\n\r\nhello";
  const HttpLimits limits;
  for (std::size_t piece = 1; piece <= kBytes.size(); ++piece) {
    RequestReader reader(limits);
    ASSERT_EQ(feed(reader, kBytes, piece), Step::ready) << piece;
    const net::Request& request = reader.request();
    EXPECT_EQ(request.method(), "POST");
    EXPECT_EQ(request.target(), "/mcp/ctx?a=1&b=?2");
    EXPECT_EQ(request.path(), "/mcp/ctx");
    EXPECT_EQ(request.query(), "a=1&b=?2");
    EXPECT_EQ(request.version(), HttpVersion::http_1_1);
    EXPECT_EQ(request.fields().find("host"), "example");
    EXPECT_EQ(request.fields().find("x-empty"), "");
    EXPECT_EQ(request.fields().find("x-spaced"), "some value");
    EXPECT_EQ(request.fields().size(), 4U);
    EXPECT_EQ(request.body(), "hello");
    EXPECT_TRUE(reader.keep_alive());
  }
}

std::string seen_of(RequestReader& reader, Step step) {
  if (step != Step::ready) return fmt::format("refused {}", reader.refusal().status);
  const net::Request& request = reader.request();
  std::string seen = fmt::format("{} {} {} {} {} {}", request.method(), request.path(), request.query(),
                                 static_cast<int>(request.version()), reader.keep_alive(), request.body());
  for (const auto& [name, value] : request.fields()) {
    seen += fmt::format("|{}={}", name, value);
    EXPECT_EQ(request.fields().find(name).has_value(), true);
  }
  return seen;
}

TEST(Fields, AreFoundWhateverTheCaseOfTheirLetters) {
  EXPECT_TRUE(same_field_name("MCP-Protocol-Version", "mcp-protocol-VERSION"));
  EXPECT_TRUE(same_field_name("Host", "hOST"));
  EXPECT_TRUE(same_field_name("", ""));
  EXPECT_FALSE(same_field_name("X-Name-Of-It", "X-Name-Of-In"));
  EXPECT_FALSE(same_field_name("Host", "Hos"));
  // These differ in the same bit as the two cases of a letter.
  for (const auto& [a, b] : {std::pair("x^y", "x~y"), {"x-name^of", "x-name~of"}, {"`aaaaaaaa", "@aaaaaaaa"}})
    EXPECT_FALSE(same_field_name(a, b)) << a;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const auto lower = [](int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; };
      const std::string name = std::string("1234567") + static_cast<char>(a);
      const std::string other = std::string("1234567") + static_cast<char>(b);
      ASSERT_EQ(same_field_name(name, other), lower(a) == lower(b)) << a << " " << b;
    }
  }
}

// SEC-03: what was read before on a connection does not change how the next request is read.
TEST(RequestReader, ReadsARequestAsIfItWereTheFirst) {
  const std::string long_value(3000, 'v');
  std::string many_empty_lines;
  for (int i = 0; i < 500; ++i)
    many_empty_lines += "\r\n";
  const std::vector<std::string> requests = {
      "POST /a HTTP/1.1\r\nHost: one\r\nAccept: x\r\nContent-Length: 2\r\n\r\nhi",
      "POST /a HTTP/1.1\r\nHost: one\r\nAccept: x\r\nContent-Length: 2\r\n\r\nho",
      "POST /a HTTP/1.1\r\nHost: one\r\nAccept: x\r\nContent-Length: 5\r\n\r\nhello",
      "POST /a HTTP/1.1\r\nHost: one\r\nContent-Length: 2\r\n\r\nhi",
      "POST /a HTTP/1.1\r\nHost: one\r\nX-New: 1\r\nAccept: x\r\nContent-Length: 2\r\n\r\nhi",
      "POST /a?q HTTP/1.0\r\nHost: one\r\nAccept: x\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
      "\r\nPOST /a HTTP/1.1\r\nHost: one\r\nAccept:\r\nContent-Length: 2\r\n\r\nhi",
      "GET * HTTP/1.1\r\nHOST: one\r\n\r\n",
      many_empty_lines + "POST /a HTTP/1.1\r\nHost: one\r\nAccept: x\r\nContent-Length: 2\r\n\r\nhi",
      "POST /a HTTP/1.1\r\nHost: one\r\nAccept: x\r\nX-Long: " + long_value + "\r\nContent-Length: 2\r\n\r\nhi",
      "POST /a HTTP/1.1\r\nHost: one\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
      "POST /a HTTP/1.1\r\nHost: one\r\nHost: one\r\n\r\n",
      "POST /a HTTP/1.1\r\nHost: one\r\nAccept: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
      "POST /a HTTP/1.1\r\nHost: one\r\n Accept: x\r\n\r\n",
      "POST /a HTTP/1.1\r\nAccept: x\r\n\r\n",
  };
  const HttpLimits limits;
  const auto count = requests.size();
  for (std::size_t i = 0; i < count * count * count; ++i) {
    const std::array three = {requests[i % count], requests[i / count % count], requests[i / count / count]};
    for (const std::size_t piece : {std::string_view::npos, std::size_t{7}}) {
      RequestReader used(limits);
      for (const auto& request : three) {
        RequestReader fresh(limits);
        const Step step = feed(fresh, request, piece);
        ASSERT_EQ(seen_of(used, feed(used, request, piece)), seen_of(fresh, step)) << three[0] << three[1] << three[2];
        if (step != Step::ready) break;
        used.finish();
      }
    }
  }
}

// OAU-17: requests with the same number have the same Authorization, which need not be compared again.
TEST(RequestReader, NumbersAuthorizationsThatAreNotAsBefore) {
  const HttpLimits limits;
  RequestReader reader(limits);
  const auto number_of = [&](std::string_view lines) {
    EXPECT_EQ(feed(reader, fmt::format("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", lines)), Step::ready);
    const std::uint64_t number = reader.request().authorization_number();
    reader.finish();
    return number;
  };
  const auto first = number_of("Authorization: Bearer a\r\n");
  EXPECT_NE(first, 0U);
  EXPECT_EQ(number_of("Authorization: Bearer a\r\n"), first);
  EXPECT_EQ(number_of("Authorization: Bearer a\r\nX-More: 1\r\n"), first);
  const auto second = number_of("Authorization: Bearer b\r\n");
  EXPECT_NE(second, first);
  EXPECT_NE(number_of("Authorization: Bearer a\r\n"), second);
  number_of("");
  EXPECT_NE(number_of("Authorization: Bearer a\r\n"), first) << "what was not in the head before is not known";
  std::set<std::uint64_t> numbers;
  const std::string too_long = fmt::format("Authorization: Bearer {}\r\n", std::string(3000, 'x'));
  for (int i = 0; i < 3; ++i)
    numbers.insert(number_of(too_long));
  EXPECT_EQ(numbers.size(), 3U) << "what is not remembered is another each time";
}

TEST(RequestReader, GrowsForLargeHeadsAndBodiesWithoutLosingAView) {
  const std::string value(30'000, 'v');
  const std::string body(3'000'000, 'b');
  const std::string bytes = "POST /path?query HTTP/1.1\r\nHost: h\r\nX-Large: " + value +
                            "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body + "GET /next";
  const HttpLimits limits;
  for (const std::size_t piece : {std::size_t{999}, std::size_t{4096}, std::size_t{70'000}, bytes.size()}) {
    RequestReader reader(limits);
    ASSERT_EQ(feed(reader, bytes, piece), Step::ready);
    EXPECT_EQ(reader.request().method(), "POST");
    EXPECT_EQ(reader.request().path(), "/path");
    EXPECT_EQ(reader.request().query(), "query");
    EXPECT_EQ(reader.request().fields().find("X-Large"), value);
    EXPECT_EQ(reader.request().body(), body);
  }
}

TEST(RequestReader, LeavesReadablePaddingBehindTheBody) {
  for (std::size_t size = 3900; size < 4200; ++size) {
    const HttpLimits limits;
    RequestReader reader(limits);
    const std::string body(size, 'b');
    ASSERT_EQ(feed(reader, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + body),
              Step::ready);
    const std::string_view there = reader.request().body();
    volatile char last = *(there.data() + there.size() + net::Request::kBodyPadding - 1);  // checked by ASan
    static_cast<void>(last);
    EXPECT_EQ(there, body);
  }
}

TEST(RequestReader, ReadsRequestsSentAheadInOrder) {
  const HttpLimits limits;
  RequestReader reader(limits);
  std::string bytes;
  for (int i = 0; i < 500; ++i) {
    bytes +=
        "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n" + std::to_string(100 + i);
  }
  std::string_view rest = bytes;
  for (int i = 0; i < 500; ++i) {
    Step step = advance(reader);
    while (step == Step::need_bytes) {
      const std::span<char> space = reader.space();
      const std::size_t count = std::min({std::size_t{777}, rest.size(), space.size()});
      std::memcpy(space.data(), rest.data(), count);
      reader.commit(count);
      rest.remove_prefix(count);
      step = advance(reader);
    }
    ASSERT_EQ(step, Step::ready);
    EXPECT_EQ(reader.request().path(), "/" + std::to_string(i));
    EXPECT_EQ(reader.request().body(), std::to_string(100 + i));
    reader.finish();
  }
  EXPECT_EQ(reader.phase(), RequestReader::Phase::idle);
}

// A pipelined request whose body arrives later needs more room than the buffer has left.
TEST(RequestReader, RoutesAPipelinedRequestByItsOwnBytes) {
  const std::string body(3000, 'b');
  for (const auto& [first, second, path] :
       {std::array{"/mcp?", "/mcp/sub", "/mcp/sub"},
        std::array{"http://b/readyzz?", "/mcp/aaa/metrics", "/mcp/aaa/metrics"},
        std::array{"/a?", "http://host/b?c", "/b"}, std::array{"/mcp?", "http://host", "/"}}) {
    for (std::size_t filler = 0; filler < 3800; filler += 50) {
      const std::string ahead =
          "POST " + std::string(first) + std::string(filler, 'y') + " HTTP/1.1\r\nHost: h\r\n\r\n";
      const std::string head = "POST " + std::string(second) + " HTTP/1.1\r\nHost: h\r\nContent-Length: 3000\r\n\r\n";
      const HttpLimits limits;
      RequestReader reader(limits);
      ASSERT_EQ(feed(reader, ahead + head), Step::ready);
      reader.finish();
      ASSERT_EQ(feed(reader, (ahead + head + body).substr(std::min(ahead.size() + head.size(), std::size_t{4096}))),
                Step::ready);
      EXPECT_EQ(reader.request().path(), path) << filler;
      EXPECT_EQ(reader.request().method(), "POST");
      EXPECT_EQ(reader.request().fields().find("Content-Length"), "3000");
      EXPECT_EQ(reader.request().body(), body);
      reader.finish();
    }
  }
}

TEST(RequestReader, DecodesChunksInPlaceHoweverTheyArrive) {
  constexpr std::string_view kBytes =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n1;name=value\r\n,\r\n00A\r\n wonderful\r\n0\r\nTrailer: x\r\n\r\nGET /next "
      "HTTP/1.1\r\nHost: h\r\n\r\n";
  const HttpLimits limits;
  for (std::size_t piece = 1; piece <= kBytes.size(); ++piece) {
    RequestReader reader(limits);
    std::string_view rest = kBytes;
    Step step = advance(reader);
    while (step == Step::need_bytes) {
      const std::span<char> space = reader.space();
      const std::size_t count = std::min({piece, rest.size(), space.size()});
      std::memcpy(space.data(), rest.data(), count);
      reader.commit(count);
      rest.remove_prefix(count);
      step = advance(reader);
    }
    ASSERT_EQ(step, Step::ready) << piece;
    EXPECT_EQ(reader.request().body(), "hello, wonderful");
    reader.finish();
    ASSERT_EQ(feed(reader, rest), Step::ready) << piece;
    EXPECT_EQ(reader.request().path(), "/next");
  }
}

TEST(RequestReader, UnderstandsTheAbsoluteForm) {
  const HttpLimits limits;
  for (const auto& [target, path, query] :
       {std::array{"http://example.org/a/b?c", "/a/b", "c"}, std::array{"HTTPS://example.org", "/", ""},
        std::array{"http://example.org?q", "/", "q"}, std::array{"*", "", ""}}) {
    RequestReader reader(limits);
    ASSERT_EQ(feed(reader, std::string("OPTIONS ") + target + " HTTP/1.1\r\nHost: h\r\n\r\n"), Step::ready) << target;
    EXPECT_EQ(reader.request().path(), path);
    EXPECT_EQ(reader.request().query(), query);
  }
}

TEST(RequestReader, KeepsTheConnectionAsTheVersionAndTheClientSay) {
  const HttpLimits limits;
  const auto keeps = [&](std::string_view version, std::string_view fields) {
    RequestReader reader(limits);
    const Step step = feed(reader, fmt::format("GET / HTTP/{}\r\nHost: h\r\n{}\r\n", version, fields));
    EXPECT_EQ(step, Step::ready);
    return reader.keep_alive();
  };
  EXPECT_TRUE(keeps("1.1", ""));
  EXPECT_FALSE(keeps("1.1", "Connection: close\r\n"));
  EXPECT_FALSE(keeps("1.1", "Connection: foo, Close\r\n"));
  EXPECT_FALSE(keeps("1.0", ""));
  EXPECT_TRUE(keeps("1.0", "Connection: Keep-Alive\r\n"));
  EXPECT_FALSE(keeps("1.0", "Connection: keep-alive, close\r\n"));
}

TEST(RequestReader, GivesTheHeadBeforeTheBodyAndLeavesItWhereItIs) {
  const std::string body(200'000, 'b');
  const std::string head = "POST /path?query HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n";
  const HttpLimits limits;
  RequestReader reader(limits);
  const std::span<char> space = reader.space();
  std::memcpy(space.data(), head.data(), head.size());
  reader.commit(head.size());
  ASSERT_EQ(reader.advance(), Step::head);
  EXPECT_FALSE(reader.is_ready());
  const std::string_view path = reader.request().path();
  const std::string_view length = *reader.request().fields().find("Content-Length");
  ASSERT_EQ(feed(reader, body, 1000), Step::ready);
  EXPECT_EQ(path, "/path");
  EXPECT_EQ(path.data(), reader.request().path().data());
  EXPECT_EQ(length, "200000");
  EXPECT_EQ(reader.request().body(), body);
}

TEST(RequestReader, HasNoMoreMemoryThanItsStandingHas) {
  HttpLimits limits;
  limits.body_bytes = 50'000;
  limits.head_bytes = 4096;
  limits.stranger_bytes = limits.known_bytes = 0;  // raised to the minimum: room for two requests
  ReadMemory memory(limits);
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 50000\r\n\r\n";
  const std::string chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nC350\r\n";
  {
    RequestReader first(limits, &memory);
    RequestReader second(limits, &memory);
    EXPECT_EQ(feed(first, head + std::string(5000, 'x')), Step::need_bytes);
    EXPECT_EQ(feed(second, head + std::string(5000, 'x')), Step::need_bytes);
    RequestReader third(limits, &memory);
    EXPECT_EQ(feed(third, head + std::string(5000, 'x')), Step::refused);
    EXPECT_EQ(third.refusal().status, 503U);
    RequestReader fourth(limits, &memory);
    EXPECT_EQ(feed(fourth, chunked + std::string(50'000, 'x')), Step::refused);
    RequestReader known(limits, &memory);
    known.set_standing(Standing::known);
    EXPECT_EQ(feed(known, head + std::string(50'000, 'x')), Step::ready);
    EXPECT_GE(memory.taken(Standing::known), 50'000U);
    RequestReader small(limits, &memory);
    EXPECT_EQ(feed(small, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 500\r\n\r\n" + std::string(500, 'x')),
              Step::ready);
  }
  EXPECT_EQ(memory.taken(Standing::stranger), 0U);
  EXPECT_EQ(memory.taken(Standing::known), 0U);
}

TEST(RequestReader, AsksForTheContinueOnceAndOnlyIfTheBodyIsStillToCome) {
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
  const HttpLimits limits;
  RequestReader waits(limits);
  EXPECT_EQ(feed(waits, head), Step::expects_continue);
  EXPECT_EQ(feed(waits, "hello"), Step::ready);
  RequestReader hurries(limits);
  EXPECT_EQ(feed(hurries, head + "hello"), Step::ready);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n"), 413U);
}

}  // namespace
}  // namespace proteus::net
