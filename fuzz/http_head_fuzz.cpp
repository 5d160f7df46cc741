// Request heads, held against Beast's parser: what ours accepts Beast's accepts too, and understands the same way.
// Ours may refuse more.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "net/request_head_parser.hpp"

namespace {

void check(bool kept) {
  if (!kept) std::abort();
}

std::string_view to_std(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace proteus::net;
  std::string_view message(reinterpret_cast<const char*>(data), size);
  const HttpLimits limits;
  RequestHeadParser parser(limits);
  Request ours;
  if (parser.parse(message, ours) != RequestHeadParser::Outcome::done) return 0;
  const Framing& framing = parser.framing();

  message = message.substr(0, parser.consumed());
  // Empty lines before a request are accepted by ours alone.
  while (message.starts_with("\r\n"))
    message.remove_prefix(2);
  boost::beast::http::request_parser<boost::beast::http::empty_body> beast;
  beast.header_limit(static_cast<std::uint32_t>(limits.head_bytes));
  beast.body_limit(boost::none);
  boost::system::error_code error;
  check(beast.put(boost::asio::buffer(message), error) == message.size());
  check(!error);
  check(beast.is_header_done());

  const auto& theirs = beast.get();
  check(to_std(theirs.method_string()) == ours.method());
  check(to_std(theirs.target()) == ours.target());
  check((theirs.version() == 11) == (ours.version() == HttpVersion::http_1_1));
  check(beast.chunked() == framing.chunked);
  check(beast.content_length().value_or(0) == framing.content_length);
  // Beast lets keep-alive win over close in HTTP/1.0, and heeds Proxy-Connection.
  if (!framing.keep_alive) check(!beast.keep_alive() || ours.version() == HttpVersion::http_1_0);
  check(static_cast<std::size_t>(std::distance(theirs.begin(), theirs.end())) == ours.fields().size());
  for (const auto& [name, value] : ours.fields()) {
    check(to_std(theirs[std::string(name)]) == ours.fields().find(name));
  }
  return 0;
}
