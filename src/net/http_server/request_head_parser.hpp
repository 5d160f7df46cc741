#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/http/head_lines.hpp"
#include "net/http/http_limits.hpp"
#include "net/http_server/refusal.hpp"
#include "net/http_server/request.hpp"

namespace proteus::net {

// What the head of a request says about what follows it.
struct Framing {
  std::size_t content_length = 0;
  bool chunked = false;
  bool keep_alive = false;
  bool expects_continue = false;
};

// Parses request heads into views, line by line as they arrive (RFC 9112). Refuses whatever two
// implementations could understand differently: a second Content-Length even if it is the same, a second
// Authorization and whatever else decides something by its only value, folded lines, bare line feeds, whitespace where
// none belongs.
//
// Ours and not Beast's, which takes half of all instructions a small request costs, applies its size limit to
// each piece that arrives instead of to the head, and reads on where this one refuses.
// fuzz/http_head_fuzz.cpp holds the two against each other.
class RequestHeadParser {
 public:
  explicit RequestHeadParser(const HttpLimits& limits) : limits_(limits) {}

  enum class Outcome : std::uint8_t { need_more, done, refused };

  // Forgets the last head.
  void restart();

  // `message` is all that arrived of it, from its first byte. Fills `request` with views of it, as far as that goes. A
  // message that is elsewhere than at the last call is parsed again from its beginning. Once the head is done its bytes
  // must stay where they are.
  Outcome parse(std::string_view message, Request& request);

  // Bytes of the message that were taken, all of the head once done.
  std::size_t consumed() const { return consumed_; }
  // Once done.
  const Framing& framing() const { return framing_; }
  // Once refused.
  const Refusal& refusal() const { return refusal_; }

 private:
  enum class Next : std::uint8_t { request_line, field };

  Outcome refuse(unsigned status, std::string_view detail);
  void take_request_line(std::string_view line, const HeadLines::Line& known, Request& request);
  void take_all(std::string_view head, const std::vector<HeadLines::Line>& lines, Request& request);
  // These say need_more for a line that is fine.
  Outcome take_known(std::string_view line, const HeadLines::Line& known, Request& request);
  Outcome parse_request_line(std::string_view line, Request& request);
  Outcome parse_field(std::string_view line, Request& request);
  Outcome interpret(FieldMeaning meaning, std::string_view value, const Request& request);
  Outcome take_once(FieldMeaning meaning);
  bool has_seen(FieldMeaning meaning) const;
  Outcome parse_connection(std::string_view value);
  Outcome parse_content_length(std::string_view value);
  Outcome finish(std::string_view head, Request& request);

  const HttpLimits& limits_;
  HeadLines lines_;
  const char* begin_ = nullptr;  // of the message, when it was last seen
  std::size_t consumed_ = 0;     // whole lines
  std::size_t searched_ = 0;     // for the end of the next one
  std::size_t line_ = 0;         // where the one that is looked at begins
  Next next_ = Next::request_line;
  Framing framing_;
  Framing last_framing_;              // of the head that `lines_` is of
  std::uint32_t singles_ = 0;         // meanings that a request has only once and that were seen, a bit each
  std::uint64_t authorizations_ = 0;  // that were not as in the head before
  bool has_length_ = false;
  bool asks_close_ = false;
  bool asks_keep_alive_ = false;
  Refusal refusal_;
};

}  // namespace proteus::net
