#pragma once

#include <cstddef>
#include <cstdint>

namespace proteus::net {

// Decodes a chunked body (RFC 9112, 7.1) in place, in whatever pieces it arrives. Extensions and trailers are
// checked for form and dropped. Strict: only CRLF ends a line, only hexadecimal digits count, nothing but an
// extension may follow them.
class ChunkedBody {
 public:
  enum class Outcome : std::uint8_t { need_more, done, malformed, too_large };

  ChunkedBody(std::size_t body_limit, std::size_t trailer_limit)
      : body_limit_(body_limit), trailer_limit_(trailer_limit) {}

  // Takes [in, end) and writes what it holds of the body to `out`, which must not lie behind `in`. Moves `in`
  // behind what was consumed and `out` behind what was written. After `need_more` the rest, if any, is the
  // beginning of a line and must be presented again with more behind it.
  Outcome decode(char*& in, const char* end, char*& out);

 private:
  enum class State : std::uint8_t { size, data, data_end, trailers };

  Outcome decode_size(char*& in, const char* end);
  Outcome decode_trailers(char*& in, const char* end);

  State state_ = State::size;
  std::size_t remaining_ = 0;  // of the current chunk
  std::size_t decoded_ = 0;
  std::size_t trailers_ = 0;
  std::size_t body_limit_;
  std::size_t trailer_limit_;
};

}  // namespace proteus::net
