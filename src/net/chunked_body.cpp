#include "net/chunked_body.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace proteus::net {
namespace {

// A size line holds up to 16 digits; extensions are rare and none is known.
constexpr std::size_t kSizeLine = 256;

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

struct Line {
  std::string_view text;
  bool malformed = false;
};

// The line at `in`, without its CRLF, once it is complete; malformed if it cannot become one within the
// limit.
std::optional<Line> next_line(const char* in, const char* end, std::size_t limit) {
  const std::string_view there(in, std::min(static_cast<std::size_t>(end - in), limit + 2));
  const std::size_t feed = there.find('\n');
  if (feed == std::string_view::npos) {
    if (there.size() == limit + 2) return Line{{}, true};
    return std::nullopt;
  }
  if (feed == 0 || there[feed - 1] != '\r') return Line{{}, true};
  const std::string_view text = there.substr(0, feed - 1);
  return Line{text, has_control(text)};
}

}  // namespace

ChunkedBody::Outcome ChunkedBody::decode_size(char*& in, const char* end) {
  const auto line = next_line(in, end, kSizeLine);
  if (!line) return Outcome::need_more;
  if (line->malformed) return Outcome::malformed;
  std::size_t size = 0;
  const char* last = line->text.data() + line->text.size();
  const auto [rest, error] = std::from_chars(line->text.data(), last, size, 16);
  if (error != std::errc() || (rest != last && *rest != ';')) return Outcome::malformed;
  if (size > body_limit_ - decoded_) return Outcome::too_large;
  in += line->text.size() + 2;
  remaining_ = size;
  state_ = size == 0 ? State::trailers : State::data;
  return Outcome::done;
}

ChunkedBody::Outcome ChunkedBody::decode_trailers(char*& in, const char* end) {
  while (true) {
    const auto line = next_line(in, end, trailer_limit_ - trailers_);
    if (!line) return Outcome::need_more;
    if (line->malformed) return Outcome::malformed;
    in += line->text.size() + 2;
    if (line->text.empty()) return Outcome::done;
    trailers_ = std::min(trailers_ + line->text.size() + 2, trailer_limit_);
  }
}

ChunkedBody::Outcome ChunkedBody::decode(char*& in, const char* end, char*& out) {
  while (true) {
    switch (state_) {
      case State::size:
        if (const Outcome outcome = decode_size(in, end); outcome != Outcome::done) return outcome;
        break;
      case State::data: {
        const std::size_t count = std::min(remaining_, static_cast<std::size_t>(end - in));
        std::memmove(out, in, count);
        in += count;
        out += count;
        decoded_ += count;
        remaining_ -= count;
        if (remaining_ > 0) return Outcome::need_more;
        state_ = State::data_end;
        break;
      }
      case State::data_end:
        if (in != end && *in != '\r') return Outcome::malformed;
        if (end - in < 2) return Outcome::need_more;
        if (in[1] != '\n') return Outcome::malformed;
        in += 2;
        state_ = State::size;
        break;
      case State::trailers: return decode_trailers(in, end);
    }
  }
}

}  // namespace proteus::net
