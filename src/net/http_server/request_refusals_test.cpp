// Requests that the reader rejects.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "net/http_server/request_reader.hpp"
#include "net/testing/request_feeding.hpp"

namespace proteus::net {
namespace {

using test::feed;
using test::refusal_of;
using Step = RequestReader::Step;

// SEC-03: nothing is accepted that two implementations could understand differently.
TEST(RequestReader, RefusesWhatCouldSmuggleARequest) {
  for (const std::string_view bytes : {
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 6\r\n\r\nhello",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\nhello",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5\r\n\r\nhello",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5 5\r\n\r\nhello",
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\nhello",
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
           "chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\nX:\r\n b\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n \r\n\r\n",
           "GET / HTTP/1.1\r\n Host: h\r\n\r\n",
           "GET / HTTP/1.1\r\nHost : h\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\n: v\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\nX: a\nY: b\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\nX: a\x01b\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\nX: a\x7f"
           "b\r\n\r\n",
           "GET / HTTP/1.1\nHost: h\n\n",
           "GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\nConnection: close / HTTP\r\n\r\n",
           "GET / HTTP/1.1\r\n\r\n",
           "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
           "GET / HTTP/1.1 \r\nHost: h\r\n\r\n",
           "GET /\r\nHost: h\r\n\r\n",
           "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
           "GET relative HTTP/1.1\r\nHost: h\r\n\r\n",
           "GET ftp://host/ HTTP/1.1\r\nHost: h\r\n\r\n",
           "GET http:///path HTTP/1.1\r\nHost: h\r\n\r\n",
           "(GET) / HTTP/1.1\r\nHost: h\r\n\r\n",
           " / HTTP/1.1\r\nHost: h\r\n\r\n",
           "\x16\x03\x01\x02",
       }) {
    EXPECT_EQ(refusal_of(bytes), 400U) << bytes;
  }
  using namespace std::string_view_literals;
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n"sv), 400U);
  EXPECT_EQ(refusal_of("GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n"sv), 400U);
}

// SEC-03
TEST(RequestReader, RefusesChunksThatAreNotExact) {
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string_view body :
       {"5\r\nhelloX\r\n0\r\n\r\n", "5\nhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "g\r\n", "\r\n",
        " 5\r\nhello\r\n", "0x5\r\nhello\r\n", "+5\r\nhello\r\n", "-5\r\nhello\r\n", "5\rhello\n",
        "ffffffffffffffffff\r\n", "10000000000000005\r\nhello\r\n", "5 5\r\nhello\r\n", "5;a=\x01\r\nhello\r\n",
        "0\r\nTrailer: x\n\r\n", "5\r\nhello\rX"}) {
    EXPECT_EQ(refusal_of(head + std::string(body)), 400U) << body;
  }
  EXPECT_EQ(refusal_of(head + "1;" + std::string(9000, 'x')), 400U) << "an endless extension";
  EXPECT_EQ(refusal_of(head + std::string(9000, '0')), 400U) << "an endless size";
}

// SEC-03
TEST(RequestReader, EnforcesEachLimitWithItsStatus) {
  HttpLimits limits;
  limits.head_bytes = 1000;
  limits.head_fields = 5;
  limits.body_bytes = 100;
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(refusal_of(head + "X: " + std::string(2000, 'x'), limits), 431U);
  EXPECT_EQ(refusal_of(head + "X: " + std::string(900, 'x') + "\r\nY: " + std::string(900, 'x') + "\r\n\r\n", limits),
            431U);
  EXPECT_EQ(refusal_of("GET /" + std::string(2000, 'x'), limits), 431U);
  EXPECT_EQ(refusal_of(std::string(2000, '\r'), limits), 400U);
  std::string lines;
  for (int i = 0; i < 1000; ++i)
    lines += "\r\n";
  EXPECT_EQ(refusal_of(lines, limits), 431U);
  EXPECT_EQ(refusal_of(head + "A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: 5\r\n\r\n", limits), 431U);
  EXPECT_EQ(refusal_of(head + "Content-Length: 101\r\n\r\n", limits), 413U) << "before any of it is read";
  EXPECT_EQ(refusal_of(head + "Transfer-Encoding: chunked\r\n\r\n32\r\n" + std::string(50, 'x') + "\r\n33\r\n" +
                           std::string(51, 'x'),
                       limits),
            413U);
  EXPECT_EQ(refusal_of(head + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: " + std::string(9000, 'x'), limits), 400U);
}

TEST(RequestReader, RefusesWhatItDoesNotSupportWithTheStatusForIt) {
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n"), 413U);
  EXPECT_EQ(refusal_of("GET / HTTP/2.0\r\nHost: h\r\n\r\n"), 505U);
  EXPECT_EQ(refusal_of("GET / HTTP/1.2\r\nHost: h\r\n\r\n"), 505U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"), 501U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n"), 501U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n"), 501U);
  EXPECT_EQ(refusal_of("CONNECT example.org:443 HTTP/1.1\r\nHost: h\r\n\r\n"), 501U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n"), 415U);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: h\r\nExpect: something\r\nContent-Length: 5\r\n\r\n"), 417U);
}

// SEC-03
TEST(RequestReader, RefusesASecondFieldOfWhatDecidesByOne) {
  for (const auto* name : {"Authorization", "Content-Type", "Last-Event-ID", "Origin", "Host"}) {
    const std::string twice = fmt::format("GET / HTTP/1.1\r\nHost: h\r\n{0}: a\r\nX: y\r\n{0}: a\r\n\r\n", name);
    EXPECT_EQ(refusal_of(twice), 400U) << name;
  }
  const HttpLimits limits;
  RequestReader lists(limits);
  EXPECT_EQ(feed(lists, "GET / HTTP/1.1\r\nHost: h\r\nAccept: a\r\nAccept: b\r\nX: 1\r\nX: 2\r\n\r\n"), Step::ready);
}

}  // namespace
}  // namespace proteus::net
