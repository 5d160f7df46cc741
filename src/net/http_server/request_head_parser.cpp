#include "net/http_server/request_head_parser.hpp"

#include <algorithm>
#include <charconv>

#include "net/http/field_text.hpp"
#include "net/http/token.hpp"

namespace proteus::net {
namespace {

bool is_visible_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

bool names_a_version(std::string_view text) {
  return text.size() == 8 && text.starts_with("HTTP/") && is_digit(text[5]) && text[6] == '.' && is_digit(text[7]);
}

}  // namespace

void RequestHeadParser::restart() {
  consumed_ = searched_ = 0;
  next_ = Next::request_line;
  framing_ = {};
  singles_ = 0;
  has_length_ = asks_close_ = asks_keep_alive_ = false;
  lines_.restart();
}

RequestHeadParser::Outcome RequestHeadParser::refuse(unsigned status, std::string_view detail) {
  refusal_ = {status, detail};
  return Outcome::refused;
}

RequestHeadParser::Outcome RequestHeadParser::parse(std::string_view message, Request& request) {
  const std::string_view head = message.substr(0, std::min(message.size(), limits_.head_bytes));
  if (begin_ != message.data()) {
    if (consumed_ > 0) {  // the views point to the old place
      restart();
      request.clear();
    }
    begin_ = message.data();
  }
  if (searched_ == 0) {
    if (const auto* const lines = lines_.recall_all(head)) {
      take_all(head, *lines, request);
      return Outcome::done;
    }
  }
  while (true) {
    if (searched_ == consumed_) {
      if (const auto* const known = lines_.recall(head, consumed_)) {
        const std::string_view line = head.substr(consumed_, known->size);
        consumed_ = searched_ = consumed_ + line.size();
        if (take_known(line, *known, request) == Outcome::refused) return Outcome::refused;
        continue;
      }
    }
    const std::size_t feed = head.find('\n', searched_);
    if (feed == std::string_view::npos) break;
    if (feed == consumed_ || head[feed - 1] != '\r') return refuse(400, "a line does not end in CRLF");
    const std::string_view line = head.substr(consumed_, feed - 1 - consumed_);
    line_ = consumed_;
    consumed_ = searched_ = feed + 1;
    Outcome outcome = Outcome::need_more;
    if (next_ == Next::field) {
      if (line.empty()) return finish(head, request);
      outcome = parse_field(line, request);
    } else if (!line.empty()) {
      outcome = parse_request_line(line, request);
    }  // an empty line before a request is no error (RFC 9112, section 2.2)
    if (outcome == Outcome::refused) return outcome;
  }
  searched_ = head.size();
  // A client that speaks another protocol may never send a line feed.
  const std::string_view begun = head.substr(consumed_);
  if (next_ == Next::request_line && !begun.empty() && !is_token_character(begun[0]) && begun != "\r") {
    return refuse(400, "the request is malformed");
  }
  if (head.size() == limits_.head_bytes) return refuse(431, "the header fields are too large");
  return Outcome::need_more;
}

// A head that was valid before is valid again.
void RequestHeadParser::take_all(std::string_view head, const std::vector<HeadLines::Line>& lines, Request& request) {
  for (const HeadLines::Line& known : lines) {
    const std::string_view line = head.substr(known.at, known.size);
    if (next_ == Next::field) {
      request.fields_.add(known.name_in(line), known.value_in(line));
    } else {
      take_request_line(line, known, request);
    }
  }
  framing_ = last_framing_;
  consumed_ = searched_ = lines_.size();
  request.authorization_number_ = authorizations_;
}

void RequestHeadParser::take_request_line(std::string_view line, const HeadLines::Line& known, Request& request) {
  request.method_ = known.name_in(line);
  request.version_ = line[line.size() - 3] == '1' ? HttpVersion::http_1_1 : HttpVersion::http_1_0;
  request.set_target(known.value_in(line));
  next_ = Next::field;
}

RequestHeadParser::Outcome RequestHeadParser::take_known(std::string_view line, const HeadLines::Line& known,
                                                         Request& request) {
  if (next_ == Next::request_line) {
    take_request_line(line, known, request);
    return Outcome::need_more;
  }
  const std::string_view value = known.value_in(line);
  request.fields_.add(known.name_in(line), value);
  return interpret(known.meaning, value, request);
}

RequestHeadParser::Outcome RequestHeadParser::parse_request_line(std::string_view line, Request& request) {
  const std::size_t method = line.find(' ');
  const std::size_t target = line.rfind(' ');
  if (method == std::string_view::npos || method == target || method == 0) {
    return refuse(400, "the request line is malformed");
  }
  request.method_ = line.substr(0, method);
  if (!std::ranges::all_of(request.method_, is_token_character)) return refuse(400, "the method is malformed");

  const std::string_view version = line.substr(target + 1);
  if (version == "HTTP/1.1") {
    request.version_ = HttpVersion::http_1_1;
  } else if (version == "HTTP/1.0") {
    request.version_ = HttpVersion::http_1_0;
  } else if (names_a_version(version)) {
    return refuse(505, "this server speaks HTTP/1.1");
  } else {
    return refuse(400, "the request line is malformed");
  }

  const std::string_view asked = line.substr(method + 1, target - method - 1);
  if (!is_visible_ascii(asked) || !request.set_target(asked)) {
    if (request.method_ == "CONNECT") return refuse(501, "CONNECT is not supported");
    return refuse(400, "the request target is malformed");
  }
  lines_.learn(line_, line, request.method_, asked);
  next_ = Next::field;
  return Outcome::need_more;
}

RequestHeadParser::Outcome RequestHeadParser::parse_field(std::string_view line, Request& request) {
  std::size_t colon = 0;
  while (colon < line.size() && is_token_character(line[colon]))
    ++colon;
  // A line that continues the previous one begins with a blank, and is rejected here, too.
  if (colon == 0 || colon == line.size() || line[colon] != ':') return refuse(400, "a header field is malformed");
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim_blanks(line.substr(colon + 1));
  if (has_control(value)) return refuse(400, "a header field holds control characters");
  if (request.fields_.size() == limits_.head_fields) return refuse(431, "too many header fields");
  request.fields_.add(name, value);
  const FieldMeaning meaning = meaning_of(name);
  if (meaning == FieldMeaning::authorization) ++authorizations_;
  lines_.learn(line_, line, name, value, meaning);
  return interpret(meaning, value, request);
}

RequestHeadParser::Outcome RequestHeadParser::interpret(FieldMeaning meaning, std::string_view value,
                                                        const Request& request) {
  switch (meaning) {
    case FieldMeaning::none: break;
    case FieldMeaning::host:
    case FieldMeaning::authorization:
    case FieldMeaning::content_type:
    case FieldMeaning::last_event_id:
    case FieldMeaning::origin: return take_once(meaning);
    case FieldMeaning::expect:
      if (!same_field_name(value, "100-continue")) return refuse(417, "the expectation is not supported");
      framing_.expects_continue = request.version() == HttpVersion::http_1_1;
      break;
    case FieldMeaning::connection: return parse_connection(value);
    case FieldMeaning::content_length: return parse_content_length(value);
    case FieldMeaning::content_encoding:
      if (!value.empty() && !same_field_name(value, "identity")) {
        return refuse(415, "encoded request bodies are not supported");
      }
      break;
    case FieldMeaning::transfer_encoding:
      if (!same_field_name(value, "chunked")) return refuse(501, "the transfer coding is not supported");
      if (framing_.chunked) return refuse(400, "there is more than one Transfer-Encoding");
      framing_.chunked = true;
      break;
  }
  return Outcome::need_more;
}

bool RequestHeadParser::has_seen(FieldMeaning meaning) const {
  return (singles_ >> static_cast<unsigned>(meaning) & 1U) != 0;
}

RequestHeadParser::Outcome RequestHeadParser::take_once(FieldMeaning meaning) {
  if (has_seen(meaning)) return refuse(400, "a header field that a request has only once is there twice");
  singles_ |= 1U << static_cast<unsigned>(meaning);
  return Outcome::need_more;
}

RequestHeadParser::Outcome RequestHeadParser::parse_connection(std::string_view value) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view option = trim_blanks(value.substr(0, comma));
    if (!std::ranges::all_of(option, is_token_character)) return refuse(400, "the Connection field is malformed");
    asks_close_ |= same_field_name(option, "close");
    asks_keep_alive_ |= same_field_name(option, "keep-alive");
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  return Outcome::need_more;
}

RequestHeadParser::Outcome RequestHeadParser::parse_content_length(std::string_view value) {
  if (has_length_) return refuse(400, "there is more than one Content-Length");
  has_length_ = true;
  const char* const begin = value.data();
  const char* const end = begin + value.size();
  const auto [rest, error] = std::from_chars(begin, end, framing_.content_length);
  const bool digits = !value.empty() && std::ranges::all_of(value, is_digit);
  if (!digits || (error != std::errc() && error != std::errc::result_out_of_range)) {
    return refuse(400, "the Content-Length is not a number");
  }
  if (error != std::errc() || framing_.content_length > limits_.body_bytes) {
    return refuse(413, "the request body is too large");
  }
  return Outcome::need_more;
}

RequestHeadParser::Outcome RequestHeadParser::finish(std::string_view head, Request& request) {
  const bool http_1_0 = request.version() == HttpVersion::http_1_0;
  if (!has_seen(FieldMeaning::host) && !http_1_0) return refuse(400, "there is no Host");
  if (framing_.chunked && has_length_) return refuse(400, "there are Content-Length and Transfer-Encoding");
  if (framing_.chunked && http_1_0) return refuse(400, "HTTP/1.0 has no transfer codings");
  framing_.keep_alive = !asks_close_ && (asks_keep_alive_ || !http_1_0);
  last_framing_ = framing_;
  request.authorization_number_ = authorizations_;
  lines_.finish(head.substr(0, consumed_));
  return Outcome::done;
}

}  // namespace proteus::net
