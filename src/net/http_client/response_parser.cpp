#include "net/http_client/response_parser.hpp"

#include <algorithm>
#include <functional>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"

namespace proteus::net {
namespace {

namespace http = boost::beast::http;

constexpr std::string_view kStart = "HTTP/1.";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::size_t kShownBytes = 40;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

bool lies_within(std::string_view part, std::string_view whole) {
  const std::less_equal<const char*> before;
  return before(whole.data(), part.data()) && before(part.data() + part.size(), whole.data() + whole.size());
}

// Beast's parser, for heads only.
class HeadParser final : public http::basic_parser<false> {
 public:
  HeadParser(std::string_view head, Fields& fields, std::size_t max_fields, std::vector<std::string>& folded)
      : head_(head), fields_(fields), max_fields_(max_fields), folded_(folded) {
    folded_.clear();
    fields_.clear();
    body_limit(boost::none);
    header_limit(static_cast<std::uint32_t>(head.size()));
  }

  Result<> parse() {
    error_code error;
    put(boost::asio::const_buffer(head_.data(), head_.size()), error);
    if (error == http::error::header_limit) {
      return std::unexpected(errors::too_large("the number of fields of the answer", max_fields_));
    }
    if (error && error != http::error::need_more) {
      return std::unexpected(errors::protocol(fmt::format("the answer is not valid HTTP/1.1: {}", error.message())));
    }
    if (!is_header_done()) return std::unexpected(errors::protocol("the answer has a malformed head"));
    return {};
  }

  unsigned status() const { return status_; }

 private:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;

  void on_request_impl(http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int code, string_view, int, error_code&) override { status_ = static_cast<unsigned>(code); }
  void on_field_impl(http::field, string_view name, string_view value, error_code& error) override {
    if (fields_.size() == max_fields_) {
      error = http::error::header_limit;
      return;
    }
    std::string_view kept = view(value);
    if (!kept.empty() && !lies_within(kept, head_)) kept = keep(kept);
    fields_.add(view(name), kept);
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view, error_code&) override { return 0; }
  void on_finish_impl(error_code&) override {}

  std::string_view keep(std::string_view value) {
    if (folded_.empty()) folded_.reserve(max_fields_);  // growing would move short strings
    return folded_.emplace_back(value);
  }

  std::string_view head_;
  Fields& fields_;
  std::size_t max_fields_;
  std::vector<std::string>& folded_;
  unsigned status_ = 0;
};

}  // namespace

void ResponseParser::begin(ResponseLimits limits, AnswerBody body) {
  limits_ = limits;
  body_ = body;
  begin_ = scanned_ = 0;
}

Result<std::size_t> ResponseParser::parse_head(std::string_view bytes, Fields& fields) {
  bytes = bytes.substr(0, limits_.head_bytes);
  for (;;) {
    const auto size = parse_next_head(bytes.substr(begin_), fields);
    if (!size) return size;
    if (*size == 0) {
      if (bytes.size() >= limits_.head_bytes) break;
      return 0;
    }
    begin_ += *size;
    scanned_ = 0;
    if (status_ >= 200) return begin_;
    if (status_ == 101) return std::unexpected(errors::protocol("the answer switches protocols unasked"));
  }
  return std::unexpected(errors::too_large("the head of the answer", limits_.head_bytes));
}

// Returns the size of the next head; 0 if it is incomplete.
Result<std::size_t> ResponseParser::parse_next_head(std::string_view bytes, Fields& fields) {
  if (scanned_ == 0) {
    if (const std::size_t size = plain_.read_again(bytes, fields, limits_.fields); size > 0) {
      take_plain();
      return size;
    }
  }
  const std::size_t known = std::min(bytes.size(), kStart.size());
  // Fails at once, instead of waiting for the end of a head until the deadline passes.
  if (bytes.substr(0, known) != kStart.substr(0, known)) {
    return std::unexpected(errors::protocol(
        fmt::format("the answer is not HTTP/1.1; it begins with '{}'", log::printable(bytes, kShownBytes))));
  }
  const std::size_t end = bytes.find(kHeadEnd, scanned_);
  if (end == std::string_view::npos) {
    scanned_ = bytes.size() - std::min(bytes.size(), kHeadEnd.size() - 1);
    return 0;
  }
  const std::size_t size = end + kHeadEnd.size();
  if (auto parsed = parse_whole_head(bytes.substr(0, size), fields); !parsed) {
    return std::unexpected(std::move(parsed).error());
  }
  return size;
}

void ResponseParser::take_plain() {
  folded_.clear();
  status_ = plain_.status();
  closed_ = false;
  length_ = left_ = 0;
  const bool bodiless = body_ == AnswerBody::none || status_ < 200 || status_ == 204 || status_ == 304;
  if (bodiless) {
    framing_ = Framing::none;
  } else if (plain_.chunked()) {
    framing_ = Framing::chunked;
    chunks_ = {};
  } else if (const auto length = plain_.content_length()) {
    framing_ = *length == 0 ? Framing::none : Framing::length;
    length_ = left_ = *length;
  } else {
    framing_ = Framing::until_close;
  }
  keep_alive_ = !plain_.close() && framing_ != Framing::until_close;
}

Result<> ResponseParser::parse_whole_head(std::string_view head, Fields& fields) {
  if (plain_.read(head, fields, limits_.fields)) {
    take_plain();
    return {};
  }
  HeadParser parser(head, fields, limits_.fields, folded_);
  parser.skip(body_ == AnswerBody::none);
  if (auto parsed = parser.parse(); !parsed) return parsed;
  status_ = parser.status();
  keep_alive_ = parser.keep_alive();
  closed_ = false;
  length_ = left_ = 0;
  if (parser.is_done()) {
    framing_ = Framing::none;
  } else if (parser.chunked()) {
    framing_ = Framing::chunked;
    chunks_ = {};
  } else if (const auto length = parser.content_length()) {
    framing_ = Framing::length;
    length_ = left_ = *length;
  } else {
    framing_ = Framing::until_close;
  }
  return {};
}

bool ResponseParser::is_done() const {
  switch (framing_) {
    case Framing::none: return true;
    case Framing::length: return left_ == 0;
    case Framing::chunked: return chunks_.is_done();
    case Framing::until_close: return closed_;
  }
  return true;
}

std::optional<std::uint64_t> ResponseParser::content_length() const {
  if (framing_ == Framing::none || framing_ == Framing::length) return length_;
  return std::nullopt;
}

Result<ResponseParser::Decoded> ResponseParser::decode(std::span<char> bytes) {
  switch (framing_) {
    case Framing::none: return Decoded{};
    case Framing::length: {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
      left_ -= size;
      return Decoded{size, size};
    }
    case Framing::chunked: return chunks_.decode(bytes);
    case Framing::until_close: return Decoded{bytes.size(), bytes.size()};
  }
  return Decoded{};
}

Result<> ResponseParser::end_of_stream() {
  closed_ = true;
  if (is_done()) return {};
  return std::unexpected(errors::interrupted("the connection was closed within the answer"));
}

}  // namespace proteus::net
