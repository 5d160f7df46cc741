// Fuzzes the parsers of responses: however a response is split, it is parsed to the same fields and body, or rejected
// for the same reason. Beast accepts whatever PlainHead accepts, with the same meaning.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "net/http_client/plain_head.hpp"
#include "net/http_client/response_parser.hpp"

namespace {

using namespace proteus;
using net::AnswerBody;
using net::ResponseParser;

struct Outcome {
  ErrorKind fault = ErrorKind::internal;  // a kind that no parser returns stands for success
  unsigned status = 0;
  std::vector<std::string> fields;
  std::string body;
  std::size_t left = 0;
  bool keep_alive = false;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

constexpr net::ResponseLimits kLimits{.head_bytes = 512, .fields = 8};

template <class NextSize>
Outcome parse(std::string_view stream, AnswerBody allowed, NextSize next_size) {
  Outcome outcome;
  ResponseParser parser;
  parser.begin(kLimits, allowed);
  net::Fields fields;
  // Has the exact size, so that the sanitizer detects reads beyond it.
  const std::unique_ptr<char[]> buffer(new char[stream.size()]);
  std::size_t filled = 0;
  std::size_t head = 0;
  std::size_t body_end = 0;
  const auto refused = [&](const Error& error) {
    outcome.fault = error.kind();
    return outcome;
  };
  while (!stream.empty()) {
    const std::size_t size = std::min(stream.size(), next_size());
    std::memcpy(buffer.get() + filled, stream.data(), size);
    filled += size;
    stream.remove_prefix(size);
    if (head == 0) {
      const auto end = parser.parse_head({buffer.get(), filled}, fields);
      if (!end) return refused(end.error());
      if (*end > filled) std::abort();
      if (*end == 0) continue;
      head = body_end = *end;
    }
    if (parser.is_done()) continue;
    const auto decoded = parser.decode({buffer.get() + body_end, filled - body_end});
    if (!decoded) return refused(decoded.error());
    if (decoded->produced > decoded->consumed || decoded->consumed > filled - body_end) std::abort();
    std::memmove(buffer.get() + body_end + decoded->produced, buffer.get() + body_end + decoded->consumed,
                 filled - body_end - decoded->consumed);
    filled -= decoded->consumed - decoded->produced;
    body_end += decoded->produced;
  }
  if (head == 0) return outcome;
  if (const auto ended = parser.end_of_stream(); !ended) return refused(ended.error());
  for (const auto& [name, value] : fields)
    outcome.fields.push_back(std::string(name) + ":" + std::string(value));
  outcome.status = parser.status();
  outcome.body.assign(buffer.get() + head, body_end - head);
  outcome.left = filled - body_end;
  outcome.keep_alive = parser.keep_alive();
  return outcome;
}

void check(bool kept) {
  if (!kept) std::abort();
}

std::string_view to_std(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Compares `plain` with Beast's parser. `plain` remembers lines of earlier heads, including heads that were not plain.
void hold_against_beast(std::string_view stream, net::PlainHead& plain) {
  namespace http = boost::beast::http;
  const std::size_t end = stream.find("\r\n\r\n");
  if (end == std::string_view::npos) return;
  const std::string_view head = stream.substr(0, end + 4);
  net::Fields fields;
  if (!plain.read(head, fields, 64)) return;
  http::response_parser<http::empty_body> beast;
  beast.header_limit(UINT32_MAX);
  beast.body_limit(boost::none);
  boost::system::error_code error;
  beast.put(boost::asio::buffer(head), error);
  check(!error || error == http::error::need_more || error == http::error::unexpected_body);
  check(beast.is_header_done());
  const auto& theirs = beast.get();
  check(theirs.result_int() == plain.status());
  check(beast.chunked() == plain.chunked());
  check(beast.content_length().has_value() == plain.content_length().has_value());
  if (plain.content_length()) check(*beast.content_length() == *plain.content_length());
  if (plain.chunked() || plain.content_length()) check(beast.keep_alive() == !plain.close());
  check(static_cast<std::size_t>(std::distance(theirs.begin(), theirs.end())) == fields.size());
  for (const auto& [name, value] : fields)
    check(to_std(theirs[std::string(name)]) == fields.find(name));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(bytes) + 2, size - 2);
  const AnswerBody allowed = (bytes[0] & 0x80U) != 0 ? AnswerBody::none : AnswerBody::allowed;
  std::uint32_t state = bytes[0] * 256U + bytes[1];
  const Outcome one_by_one = parse(stream, allowed, [] { return std::size_t{1}; });
  const Outcome whole = parse(stream, allowed, [] { return SIZE_MAX; });
  const Outcome mixed = parse(stream, allowed, [&] {
    state = state * 1664525U + 1013904223U;
    return std::size_t{1} + (state >> 16U) % 37U;
  });
  if (one_by_one != whole || one_by_one != mixed) std::abort();
  net::PlainHead plain;
  std::string_view rest = stream;
  for (int i = 0; i < 8 && !rest.empty(); ++i) {
    hold_against_beast(rest, plain);
    const std::size_t end = rest.find("\r\n\r\n");
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 4);
  }
  hold_against_beast(stream, plain);
  return 0;
}
