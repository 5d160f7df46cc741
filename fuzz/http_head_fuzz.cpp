// Compares our parser of request heads with Beast's: Beast accepts whatever ours accepts, with the same meaning. Ours
// may reject more.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "net/http_server/request_head_parser.hpp"

namespace {

void check(bool kept) {
  if (!kept) std::abort();
}

// Checks that earlier heads of a connection do not matter: a parser that remembers their lines parses each head like a
// fresh parser.
void check_one_after_the_other(std::string_view messages) {
  using namespace proteus::net;
  const HttpLimits limits;
  RequestHeadParser used(limits);
  for (int i = 0; i < 8 && !messages.empty(); ++i) {
    Request again;
    Request once;
    RequestHeadParser fresh(limits);
    const auto outcome = fresh.parse(messages, once);
    check(used.parse(messages, again) == outcome);
    if (outcome != RequestHeadParser::Outcome::done) return;
    check(used.consumed() == fresh.consumed());
    check(again.method() == once.method() && again.target() == once.target() && again.path() == once.path());
    check(again.version() == once.version() && again.fields().size() == once.fields().size());
    check(used.framing().content_length == fresh.framing().content_length);
    check(used.framing().chunked == fresh.framing().chunked);
    check(used.framing().keep_alive == fresh.framing().keep_alive);
    for (auto a = again.fields().begin(), b = once.fields().begin(); b != once.fields().end(); ++a, ++b)
      check(a->name == b->name && a->value == b->value);
    messages.remove_prefix(used.consumed());
    used.restart();
  }
}

std::string_view to_std(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace proteus::net;
  std::string_view message(reinterpret_cast<const char*>(data), size);
  check_one_after_the_other(message);
  check_one_after_the_other(std::string(message) + std::string(message) + std::string(message));
  const HttpLimits limits;
  RequestHeadParser parser(limits);
  Request ours;
  if (parser.parse(message, ours) != RequestHeadParser::Outcome::done) return 0;
  const Framing& framing = parser.framing();

  message = message.substr(0, parser.consumed());
  // Only our parser accepts empty lines before a request.
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
  // In HTTP/1.0, Beast prefers keep-alive to close and interprets Proxy-Connection.
  if (!framing.keep_alive) check(!beast.keep_alive() || ours.version() == HttpVersion::http_1_0);
  check(static_cast<std::size_t>(std::distance(theirs.begin(), theirs.end())) == ours.fields().size());
  for (const auto& [name, value] : ours.fields()) {
    check(to_std(theirs[std::string(name)]) == ours.fields().find(name));
  }
  return 0;
}
