#include "net/http/chunked.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "net/http/field_text.hpp"

namespace proteus::net {
namespace {

// Limit of one line with a size and extensions, and of all trailers together. Nobody needs more, and nobody reads them.
constexpr std::size_t kMaxFramingBytes = 8192;
// The largest size that one more digit may follow. A size that wrapped around would differ from the one that a proxy in
// front has read.
constexpr std::uint64_t kMaxBeforeDigit = (std::uint64_t{1} << 58U) - 1;

std::unexpected<Error> malformed(const char* what) {
  return std::unexpected(errors::protocol(std::string("malformed chunked body: ") + what));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<ChunkedDecoder::Decoded> ChunkedDecoder::decode(std::span<char> bytes) {
  Decoded decoded;
  while (decoded.consumed < bytes.size() && !is_done()) {
    if (state_ == State::data) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(size_, bytes.size() - decoded.consumed));
      if (decoded.produced != decoded.consumed) {
        std::memmove(bytes.data() + decoded.produced, bytes.data() + decoded.consumed, size);
      }
      decoded.produced += size;
      decoded.consumed += size;
      size_ -= size;
      if (size_ == 0) state_ = State::data_cr;
    } else if (auto taken = take(bytes[decoded.consumed++]); !taken) {
      return std::unexpected(std::move(taken).error());
    }
  }
  return decoded;
}

Result<> ChunkedDecoder::take(char c) {
  const bool framing = state_ == State::size || state_ == State::blanks || state_ == State::extension ||
                       state_ == State::trailer || state_ == State::trailer_line;
  if (framing && ++framing_bytes_ > kMaxFramingBytes) {
    return std::unexpected(errors::too_large("a chunk's size, extensions or trailers", kMaxFramingBytes));
  }
  switch (state_) {
    case State::size: return take_size(c);
    case State::blanks: return end_size(c);
    case State::extension:
      if (c == '\r') {
        state_ = State::size_lf;
      } else if (is_control(c)) {
        return malformed("extension");
      }
      return {};
    case State::size_lf:
      if (c != '\n') return malformed("line end after a size");
      framing_bytes_ = 0;
      has_digits_ = false;
      state_ = size_ > 0 ? State::data : State::trailer;
      return {};
    case State::data_cr:
      if (c != '\r') return malformed("line end after data");
      state_ = State::data_lf;
      return {};
    case State::data_lf:
      if (c != '\n') return malformed("line end after data");
      state_ = State::size;
      return {};
    case State::trailer:
    case State::trailer_line:
      if (c == '\r') {
        state_ = state_ == State::trailer ? State::last_lf : State::trailer_lf;
      } else if (is_control(c)) {
        return malformed("trailer");
      } else {
        state_ = State::trailer_line;
      }
      return {};
    case State::trailer_lf:
    case State::last_lf:
      if (c != '\n') return malformed("line end after a trailer");
      state_ = state_ == State::trailer_lf ? State::trailer : State::done;
      return {};
    case State::data:
    case State::done: break;
  }
  return {};
}

Result<> ChunkedDecoder::take_size(char c) {
  if (const int digit = hex_digit(c); digit >= 0) {
    if (size_ > kMaxBeforeDigit) return malformed("size");
    size_ = size_ * 16 + static_cast<std::uint64_t>(digit);
    has_digits_ = true;
    return {};
  }
  return has_digits_ ? end_size(c) : malformed("size");
}

Result<> ChunkedDecoder::end_size(char c) {
  if (c == '\r') {
    state_ = State::size_lf;
  } else if (c == ';') {
    state_ = State::extension;
  } else if (c == ' ' || c == '\t') {
    state_ = State::blanks;
  } else {
    return malformed("size");
  }
  return {};
}

}  // namespace proteus::net
