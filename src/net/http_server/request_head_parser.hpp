#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/http/head_lines.hpp"
#include "net/http_server/http_limits.hpp"
#include "net/http_server/refusal.hpp"
#include "net/http_server/request.hpp"

namespace proteus::net {

// What the head of a request states about the bytes that follow and about the connection.
struct Framing {
  std::size_t content_length = 0;
  bool chunked = false;
  bool keep_alive = false;
  bool expects_continue = false;
};

// Parses request heads into views, line by line as they arrive (RFC 9112). Rejects what two implementations could
// understand differently: a second Content-Length even if it is the same, a second Authorization or other field that
// must be unique, folded lines, bare line feeds, misplaced whitespace.
//
// Used instead of Beast's parser, which takes half of all instructions of a small request, applies its size limit to
// each piece that arrives instead of to the head, and accepts what this parser rejects. fuzz/http_head_fuzz.cpp
// compares the two.
class RequestHeadParser {
 public:
  explicit RequestHeadParser(const HttpLimits& limits) : limits_(limits) {}

  enum class Outcome : std::uint8_t { need_more, done, refused };

  // Starts a new head.
  void restart();

  // Parses `message`, which is all that has arrived of the message, from its first byte. Fills `request` with views of
  // it, as far as it is parsed. If the message has moved since the last call, parses it again from its beginning. Once
  // the head is done, its bytes must not move.
  Outcome parse(std::string_view message, Request& request);

  // Returns how many bytes of the message were parsed; the size of the head once done.
  std::size_t consumed() const { return consumed_; }
  // Valid once `parse` has returned `done`.
  const Framing& framing() const { return framing_; }
  // Valid once `parse` has returned `refused`.
  const Refusal& refusal() const { return refusal_; }

 private:
  enum class Next : std::uint8_t { request_line, field };

  Outcome refuse(unsigned status, std::string_view detail);
  void take_request_line(std::string_view line, const HeadLines::Line& known, Request& request);
  void take_all(std::string_view head, const std::vector<HeadLines::Line>& lines, Request& request);
  // Functions that take or parse a line return need_more if the line is valid.
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
  const char* begin_ = nullptr;  // start of the message at the last call
  std::size_t consumed_ = 0;     // whole lines
  std::size_t searched_ = 0;     // end of the part that was searched for a line end
  std::size_t line_ = 0;         // start of the current line
  Next next_ = Next::request_line;
  Framing framing_;
  Framing last_framing_;              // of the head in `lines_`
  std::uint32_t singles_ = 0;         // fields seen that must be unique, one bit for each FieldMeaning
  std::uint64_t authorizations_ = 0;  // number of Authorization fields that the previous head did not have
  bool has_length_ = false;
  bool asks_close_ = false;
  bool asks_keep_alive_ = false;
  Refusal refusal_;
};

}  // namespace proteus::net
