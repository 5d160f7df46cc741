#include "net/http_client/response_parser.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace proteus::net {
namespace {

struct Parsed {
  unsigned status = 0;
  std::string body;
  bool done = false;
  bool keep_alive = false;
  std::size_t left = 0;  // bytes after the response
  std::vector<std::pair<std::string, std::string>> fields;
  std::string fault;
  ErrorKind kind = ErrorKind::internal;
};

// Parses `text` as if it arrived in pieces of `piece` bytes.
Parsed parse(const std::string& text, std::size_t piece, AnswerBody body = AnswerBody::allowed,
             ResponseLimits limits = {}) {
  Parsed out;
  ResponseParser parser;
  parser.begin(limits, body);
  Fields fields;
  std::string buffer;
  std::size_t head = 0;
  std::size_t decoded_end = 0;
  buffer.reserve(text.size());  // growing would invalidate the views of the head
  const auto fail = [&](const Error& error) {
    out.fault = error.message();
    out.kind = error.kind();
    return out;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view arrived = std::string_view(text).substr(at, piece);
    buffer += arrived;
    at += arrived.size();
    if (head == 0) {
      const auto end = parser.parse_head(buffer, fields);
      if (!end) return fail(end.error());
      if (*end == 0) continue;
      head = decoded_end = *end;
      for (const auto& [name, value] : fields)
        out.fields.emplace_back(name, value);
    }
    if (parser.is_done()) continue;
    const auto decoded = parser.decode(std::span(buffer).subspan(decoded_end));
    if (!decoded) return fail(decoded.error());
    buffer.erase(decoded_end + decoded->produced, decoded->consumed - decoded->produced);
    decoded_end += decoded->produced;
  }
  if (head == 0) {
    out.fault = "no head";
    return out;
  }
  if (const auto ended = parser.end_of_stream(); !ended) return fail(ended.error());
  out.status = parser.status();
  out.done = parser.is_done();
  out.keep_alive = parser.keep_alive();
  out.body = buffer.substr(head, decoded_end - head);
  out.left = buffer.size() - decoded_end;
  return out;
}

// Parses `text` as a whole, and expects the same in pieces of every size.
Parsed parse(const std::string& text, AnswerBody body = AnswerBody::allowed) {
  const Parsed whole = parse(text, text.size(), body);
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    const Parsed pieces = parse(text, piece, body);
    EXPECT_EQ(pieces.status, whole.status) << "in pieces of " << piece;
    EXPECT_EQ(pieces.body, whole.body) << "in pieces of " << piece;
    EXPECT_EQ(pieces.left, whole.left) << "in pieces of " << piece;
    EXPECT_EQ(pieces.fields, whole.fields) << "in pieces of " << piece;
    EXPECT_EQ(pieces.kind, whole.kind) << "in pieces of " << piece << ": " << pieces.fault;
  }
  return whole;
}

TEST(ResponseParser, ReadsABodyByItsLength) {
  const Parsed parsed = parse("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1");
  EXPECT_EQ(parsed.fault, "");
  EXPECT_EQ(parsed.status, 200U);
  EXPECT_EQ(parsed.body, "hello");
  EXPECT_TRUE(parsed.keep_alive);
  EXPECT_EQ(parsed.left, 8U);
  EXPECT_EQ(parsed.fields.front(), std::pair(std::string("Content-Type"), std::string("text/plain")));
}

TEST(ResponseParser, ReadsChunksWithExtensionsAndTrailers) {
  const Parsed parsed = parse(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;name=value;quoted=\"a;b\"\r\nhello\r\n1 \t\r\n,\r\n00006\r\n world\r\n0;last\r\nX-Trailer: 1\r\nOther: "
      "2\r\n\r\n");
  EXPECT_EQ(parsed.fault, "");
  EXPECT_EQ(parsed.body, "hello, world");
  EXPECT_TRUE(parsed.keep_alive);
  EXPECT_EQ(parsed.left, 0U);
  EXPECT_EQ(parsed.fields.size(), 1U) << "trailers are no fields of the head";
}

TEST(ResponseParser, ReadsABodyUntilTheConnectionCloses) {
  const Parsed parsed = parse("HTTP/1.1 200 OK\r\n\r\nall the rest");
  EXPECT_EQ(parsed.body, "all the rest");
  EXPECT_TRUE(parsed.done);
  EXPECT_FALSE(parsed.keep_alive);
}

TEST(ResponseParser, SkipsInterimResponses) {
  const Parsed parsed = parse(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
      "HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX: 1\r\n\r\nok");
  EXPECT_EQ(parsed.status, 201U);
  EXPECT_EQ(parsed.body, "ok");
  EXPECT_EQ(parsed.fields.size(), 2U);
}

TEST(ResponseParser, KnowsResponsesWithoutBody) {
  for (const std::string_view head : {"204 No Content", "304 Not Modified"}) {
    const Parsed parsed = parse(fmt::format("HTTP/1.1 {}\r\nContent-Length: 5\r\n\r\n", head));
    EXPECT_TRUE(parsed.done) << parsed.fault;
    EXPECT_EQ(parsed.body, "");
    EXPECT_TRUE(parsed.keep_alive);
  }
  const Parsed parsed = parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", AnswerBody::none);
  EXPECT_TRUE(parsed.done) << parsed.fault;
}

TEST(ResponseParser, KnowsWhenTheConnectionMustClose) {
  EXPECT_FALSE(parse("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").keep_alive);
  EXPECT_FALSE(parse("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").keep_alive);
  EXPECT_TRUE(parse("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n").keep_alive);
}

TEST(ResponseParser, JoinsFoldedValues) {
  const Parsed parsed = parse("HTTP/1.1 200 OK\r\nX-Folded: one\r\n  two\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(parsed.fields.front().second, "one two");
}

TEST(ResponseParser, RefusesWhatIsNotHttp) {
  const Parsed html = parse("<html><body>It works!</body></html>");
  EXPECT_EQ(html.fault, "the answer is not HTTP/1.1; it begins with '<html><body>It works!</body></html>'");
  EXPECT_EQ(html.kind, ErrorKind::protocol);
  EXPECT_EQ(parse("HTTP/2 200\r\n\r\n").kind, ErrorKind::protocol);
  EXPECT_EQ(parse("SSH-2.0-OpenSSH_9.2\r\n").kind, ErrorKind::protocol);
}

TEST(ResponseParser, RefusesMalformedHeads) {
  for (const std::string_view head : {
           "HTTP/1.1 2x0 OK\r\n\r\n",
           "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n",
           "HTTP/1.1 200 OK\r\nBad name: x\r\n\r\n",
           "HTTP/1.1 200 OK\r\nX: a\nY: b\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
           "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
       }) {
    EXPECT_EQ(parse(std::string(head)).kind, ErrorKind::protocol) << head;
  }
}

TEST(ResponseParser, RefusesMalformedChunks) {
  for (const std::string_view chunks : {"x\r\n", "\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "5\r\nhelloX\n0\r\n\r\n",
                                        "5\r\nhello\rX0\r\n\r\n", "-1\r\n\r\n", "fffffffffffffffff\r\n\r\n",
                                        "5;\x01\r\nhello\r\n", "5\nhello\r\n", "5x\r\nhello\r\n", "0\r\nX: 1\n\r\n"}) {
    EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(chunks)).kind,
              ErrorKind::protocol)
        << chunks;
  }
}

TEST(ResponseParser, LimitsFramingThatCarriesNothing) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto kind = [&](const std::string& chunks) { return parse(head + chunks, 1000).kind; };
  EXPECT_EQ(kind("5;" + std::string(10'000, 'x')), ErrorKind::too_large) << "an endless extension";
  EXPECT_EQ(kind("0\r\nX: " + std::string(10'000, 'x')), ErrorKind::too_large) << "an endless trailer";
  std::string trailers = "0\r\n";
  for (int i = 0; i < 2000; ++i)
    trailers += "X: 1\r\n";
  EXPECT_EQ(kind(trailers), ErrorKind::too_large) << "endless trailers";
}

TEST(ResponseParser, SaysThatAnAnswerWasCutOff) {
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello").kind, ErrorKind::interrupted);
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel").kind, ErrorKind::interrupted);
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n").kind,
            ErrorKind::interrupted);
}

// SEC-03: one parser reads the responses of many hosts; none may change how those of another host are read.
TEST(PlainHead, IsReadAsIfItWereTheFirst) {
  const std::vector<std::string> heads = {
      "HTTP/1.1 200 OK\r\nContent-Length: 17\r\nContent-Type: application/json\r\n\r\n",
      "HTTP/1.1 200 OK\r\nDate: x\r\n y\r\n\r\n",
      "HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 17\r\n\r\n",
      "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 17\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: " + std::string(3000, 'x') + "\r\nContent-Length: 17\r\n\r\n",
      "HTTP/1.0 200 OK\r\nContent-Length: 17\r\n\r\n",
      "HTTP/1.1 200 OK\r\nProxy-Connection: close\r\nContent-Length: 17\r\n\r\n",
  };
  const auto seen = [](PlainHead& reader, const std::string& head) {
    Fields fields;
    const std::string bytes = head + "body";
    const std::size_t again = reader.read_again(bytes, fields, 64);
    EXPECT_TRUE(again == 0 || again == head.size()) << again;
    if (again == 0 && !reader.read(head, fields, 64)) return std::string("not plain");
    std::string text = fmt::format("{} {} {} {}", reader.status(), reader.chunked(), reader.close(),
                                   reader.content_length().value_or(0));
    for (const auto& [name, value] : fields)
      text += fmt::format("|{}={}", name, value);
    return text;
  };
  const auto count = heads.size();
  for (std::size_t i = 0; i < count * count * count; ++i) {
    PlainHead used;
    for (const std::size_t one : {i % count, i / count % count, i / count / count}) {
      PlainHead fresh;
      ASSERT_EQ(seen(used, heads[one]), seen(fresh, heads[one])) << i;
    }
  }
}

TEST(ResponseParser, LimitsTheHead) {
  const ResponseLimits limits{.head_bytes = 100, .fields = 3};
  const auto outcome = [&](const std::string& text) {
    const Parsed whole = parse(text, text.size(), AnswerBody::allowed, limits);
    EXPECT_EQ(parse(text, 1, AnswerBody::allowed, limits).kind, whole.kind);
    return whole.kind;
  };
  const std::string start = "HTTP/1.1 200 OK\r\n";
  EXPECT_EQ(outcome(start + "X: " + std::string(1000, 'x')), ErrorKind::too_large) << "an endless line";
  EXPECT_EQ(outcome(start + "X: " + std::string(100, 'x') + "\r\n\r\n"), ErrorKind::too_large);
  EXPECT_EQ(outcome(start + "A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\n\r\n"), ErrorKind::too_large);
  EXPECT_EQ(outcome(start + "A: 1\r\nB: 1\r\nContent-Length: 0\r\n\r\n"), ErrorKind::internal) << "which is none";
  std::string interim;
  for (int i = 0; i < 10; ++i)
    interim += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(outcome(interim), ErrorKind::too_large) << "endless interim responses";
}

}  // namespace
}  // namespace proteus::net
